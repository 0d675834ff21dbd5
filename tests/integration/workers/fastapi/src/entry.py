"""FastAPI as Cloudflare's documentation shows it."""

import asgi
from fastapi import Depends, FastAPI, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from workers import WorkerEntrypoint

app = FastAPI()


class Item(BaseModel):
    name: str
    price: float


@app.get("/")
async def root(request: Request):
    return {"greeting": request.scope["env"].GREETING}


@app.post("/items")
async def create(item: Item):
    return item


@app.get("/stream")
async def stream():
    async def parts():
        for number in range(3):
            yield f"part {number}\n"

    return StreamingResponse(parts(), media_type="text/plain")


@app.get("/plain")
def plain(doubled: int = Depends(lambda: 42)):
    return {"from": "a function that is not async", "doubled": doubled}


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return await asgi.fetch(app, request.js_object, self.env)
