"""What the Worker says. Plain Python: no Worker needed to test it."""


def greet(greeting: str, name: str) -> str:
    return f"{greeting}, {name.strip() or 'World'}!\n"
