from __future__ import annotations

from checking import MAIN, expect, expect_in_handler, expect_in_object

OLD = {"compatibility_date": "2025-09-28"}


def test_there_are_no_threads() -> None:
    expect_in_handler(
        """
        threading.Thread(target=work).start()  #! TSU701
        threading.Timer(1, work)  #! TSU701
        pool.submit(work)  #! TSU701
        with ThreadPoolExecutor() as executor:
            executor.map(work, [1])  #! TSU701
        await asyncio.to_thread(work)
        await asyncio.get_running_loop().run_in_executor(pool, work)
        threading.Lock()
        numbers.map(work)
        try:
            threading.Thread(target=work).start()
        except RuntimeError:
            work()
        """,
        imports="""
        import asyncio
        import threading
        from concurrent.futures import ThreadPoolExecutor

        pool = ThreadPoolExecutor()
        """,
    )


def test_there_are_no_processes() -> None:
    expect_in_handler(
        """
        subprocess.run(["ls"])  #! TSU702
        subprocess.check_output("ls", shell=True)  #! TSU702
        os.system("ls")  #! TSU702
        os.fork()  #! TSU702
        multiprocessing.Pool(2)  #! TSU702
        ProcessPoolExecutor()  #! TSU702
        await asyncio.create_subprocess_exec("ls")  #! TSU702
        multiprocessing.cpu_count()
        subprocess.list2cmdline(["ls"])
        if sys.platform != "emscripten":
            subprocess.run(["ls"])
        try:
            subprocess.run(["ls"])
        except OSError:
            pass
        """,
        imports="""
        import asyncio
        import multiprocessing
        import os
        import subprocess
        import sys
        from concurrent.futures import ProcessPoolExecutor
        """,
    )


def test_sockets_came_with_python_3_14() -> None:
    body = """
        socket.create_connection(("a", 1)){mark}
        await asyncio.open_connection("a", 1){mark}
        smtplib.SMTP("a"){mark}
        socket.gethostname()
    """
    imports = "import asyncio\nimport smtplib\nimport socket"
    expect_in_handler(body.format(mark="  #! TSU703"), imports=imports, **OLD)
    expect_in_handler(body.format(mark=""), imports=imports)


def test_files_are_not_relative_to_the_project() -> None:
    expect(
        {
            MAIN: """
            import pandas
            from pathlib import Path
            from jinja2 import FileSystemLoader
            from workers import Response, WorkerEntrypoint

            loader = FileSystemLoader("templates")  #! TSU704

            class Default(WorkerEntrypoint):
                async def fetch(self, request):
                    open("data.json")  #! TSU704
                    open("src/data.json")  #! TSU704
                    Path("data.json").read_text()  #! TSU704
                    pandas.read_csv("data.json")  #! TSU704
                    open("not-there.json")
                    open("/tmp/data.json")
                    open("data.json", "w")
                    open(Path(__file__).parent / "data.json")
                    (Path(__file__).parent / "data.json").read_text()
                    try:
                        open("data.json")
                    except FileNotFoundError:
                        pass
                    return Response("ok")
            """,
            "src/data.json": "{}",
            "src/templates/page.html": "",
        }
    )


def test_the_directory_of_the_code_is_read_only() -> None:
    expect_in_handler(
        """
        open(Path(__file__).parent / "log", "a")  #! TSU705
        (Path(__file__).parent / "cache").mkdir()  #! TSU705
        Path(__file__).with_name("log").write_text("a")  #! TSU705
        open("/tmp/log", "a")
        Path("/tmp/cache").mkdir()
        """,
        imports="from pathlib import Path",
    )


def test_leaving_ends_the_runtime() -> None:
    expect_in_handler(
        """
        sys.exit(1)  #! TSU706
        exit()  #! TSU706
        """,
        imports="""
        import sys

        def main():
            sys.exit(1)

        if __name__ == "__main__":
            main()
        """,
    )


def test_some_calls_are_missing() -> None:
    expect_in_handler(
        """
        input("name?")  #! TSU707
        signal.alarm(1)  #! TSU707
        loop.add_signal_handler(1, print)  #! TSU707
        signal.signal(1, print)
        server.create_server(1)
        """,
        imports="import asyncio\nimport signal\nloop = asyncio.get_event_loop()",
    )


def test_python_3_12_cannot_wait_synchronously() -> None:
    body = """
        asyncio.run(later()){mark}
        run_sync(later()){mark}
    """
    imports = "import asyncio\nfrom pyodide.ffi import run_sync\nasync def later(): pass"
    expect_in_handler(body.format(mark="  #! TSU708"), imports=imports, **OLD)
    expect_in_handler(body.format(mark=""), imports=imports)


def test_a_second_loop_spoils_the_request() -> None:
    body = """
        loop = asyncio.new_event_loop()  #! TSU709
        with asyncio.Runner() as runner:  #! TSU709
            pass
    """
    expect_in_handler(body, imports="import asyncio")
    expect_in_object(body, imports="import asyncio")
