"""Errors across the border: JsException, Python exceptions through JavaScript and back."""

import js
from pyodide.ffi import JsException, JsProxy, create_proxy, to_js

# Some rejections never settle for Python: give them up soon.
DEADLINE_S = 0.25

ERRORS = (
    "error",
    "typeError",
    "errorWithCause",
    "errorWithoutMessage",
    "namedError",
    "domException",
)


class Custom(Exception):
    def __init__(self, code):
        super().__init__("custom", code)
        self.code = code


class Base(BaseException):
    pass


def thrown(host, kind):
    try:
        host.raise_it(kind)
    except BaseException as error:
        return error


def raising(error):
    def callback(*args):
        raise error

    return callback


async def scenario_js_exception(record, env, host):
    for kind in ERRORS:
        try:
            getattr(host, "raise")(kind)
        except Exception as error:
            record(kind, error)
            record(f"{kind}: str", str(error))
            record(f"{kind}: args", error.args)
            record(f"{kind}: type", type(error))
            for name in (
                "name",
                "message",
                "code",
                "cause",
                "js_error",
                "stack",
                "typeof",
                "add_note",
                "with_traceback",
                "absent",
            ):
                if name == "stack":
                    record.outcome(f"{kind}.stack starts", lambda e=error: e.stack.split("\n")[0])
                elif name in ("add_note", "with_traceback"):
                    record(f"{kind} has {name}", hasattr(error, name))
                else:
                    record.outcome(f"{kind}.{name}", lambda e=error, n=name: getattr(e, n))
    record("mro", [f"{c.__module__}.{c.__qualname__}" for c in JsException.__mro__])
    record("is Exception", issubclass(JsException, Exception))
    record("is JsProxy", issubclass(JsException, JsProxy))


async def scenario_thrown_values(record, env, host):
    for label, value in {
        "string": "text",
        "number": 5,
        "float": 1.5,
        "None": None,
        "bool": True,
        "python dict": {"a": 1},
        "js object": js.Object.new(),
        "js array": js.Array.of(1),
        "js function": host.make("function"),
        "big": 2**60,
    }.items():
        record.outcome(f"throw {label}", lambda v=value: host.raiseValue(v))
        await record.settled(f"reject {label}", lambda v=value: host.reject(v))
    record.outcome(
        "throw an error made in Python", lambda: host.raiseValue(js.TypeError.new("made"))
    )
    await record.settled("reject an error", lambda: host.rejectWith("namedError"))
    await record.settled("reject a DOMException", lambda: host.rejectWith("domException"))
    await record.settled("Promise.reject", lambda: js.Promise.reject(js.RangeError.new("r")))


async def scenario_raise_from_python(record, env, host):
    error = js.Error.new("made in Python")
    record("new", error)
    record("constructor", error.constructor.name)

    def throw():
        raise error

    record.outcome("raise it", throw)
    record("JavaScript sees", host.caught(throw))
    record.outcome("through JavaScript", lambda: host.call(throw))
    record.outcome("JsException called", lambda: JsException("text"))
    record.outcome("JsException with an error", lambda: JsException(error))

    def throw_again():
        try:
            getattr(host, "raise")("typeError")
        except JsException as caught:
            record("cause kept", caught.message)
            raise

    record("rethrown: JavaScript sees", host.caught(throw_again))


async def scenario_python_exception_through_javascript(record, env, host):
    for error in (
        ValueError("m"),
        KeyError("k"),
        Custom(7),
        Base("b"),
        StopIteration(3),
        GeneratorExit(),
        AssertionError(),
        OSError("no such file"),
        ExceptionGroup("g", [ValueError("a"), TypeError("b")]),
        TimeoutError(),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    ):
        name = type(error).__name__
        record.outcome(f"{name} comes back", lambda e=error: host.call(raising(e)))
        record(f"{name} in JavaScript", host.caught(raising(error)))
    error = ValueError("same")
    try:
        host.call(raising(error))
    except ValueError as caught:
        record("the same object", caught is error)
        record("context", caught.__context__)
        record("cause", caught.__cause__)
    proxy = create_proxy(raising(ValueError("later")))
    await record.settled("in a timer", lambda: host.callLater(proxy))
    proxy.destroy()

    async def fails():
        raise KeyError("async")

    record("an async function gives", host.describe(host.echo(fails)))
    await record.settled("rejected promise of a coroutine", lambda: host.call(fails))
    keeper = create_proxy(fails)
    await record.settled("awaited later", lambda: host.callLater(keeper))
    keeper.destroy()
    record.outcome(
        "from a converter",
        lambda: to_js([object()], default_converter=lambda *a: raising(ValueError("c"))()),
    )
    record.outcome("from map()", lambda: js.Array.of(1).map(raising(ValueError("in map"))))
    record.outcome("from sort()", lambda: js.Array.of(1, 2).sort(raising(LookupError("in sort"))))
    await record.settled(
        "in then()", lambda: js.Promise.resolve(1).then(raising(ValueError("in then")))
    )
    await record.settled(
        "in an executor", lambda: js.Promise.new(raising(ValueError("in executor")))
    )


async def scenario_what_javascript_reads_of_a_python_error(record, env, host):
    seen = []

    def look(error):
        seen.append((type(error).__name__, error.name if hasattr(error, "name") else None))
        return "handled"

    await record.settled("catch()", lambda: js.Promise.reject(ValueError("as a value")).catch(look))

    def boom(_):
        raise ValueError("boom")

    await record.settled(
        "catch() after then()", lambda: js.Promise.resolve(1).then(boom).catch(look)
    )
    record("the handlers saw", seen)


async def scenario_call_errors(record, env, host):
    record.outcome("not a function", lambda: host.make("object").a())
    record.outcome("calling null", lambda: host.make("object").nothing())
    record.outcome("calling an object", lambda: host.make("object").nested())
    record.outcome("class without new", lambda: js.Map())
    record.outcome("bad constructor argument", lambda: js.Array.new(-1))
    record.outcome("bad BigInt", lambda: js.BigInt(1.5))
    record.outcome("bad JSON", lambda: js.JSON.parse("{"))
    record.outcome("bad regexp", lambda: js.RegExp.new("("))
    record.outcome("bad date", lambda: js.Date.new("nonsense").toISOString())
    record.outcome("bad URL", lambda: js.URL.new("nonsense"))
    record.outcome("decodeURIComponent", lambda: js.decodeURIComponent("%"))
    record.outcome("atob", lambda: js.atob("*"))
    record.outcome("repeat", lambda: js.String.new("a").repeat(-1))
    record.outcome("Python function: missing argument", lambda: host.call(lambda a: a))
    record.outcome("Python function: too many arguments", lambda: host.call(lambda a: a, 1, 2, 3))
    record.outcome("stringify a cycle", lambda: js.JSON.stringify(host.make("circular")))
