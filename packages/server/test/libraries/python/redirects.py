"""The browser's part of a flow: the test that runs a script opens the address and says where it ended."""


def visit(address, decision="approve"):
    print("VISIT", decision, address, flush=True)
    return input()


def error_of(kind, work):
    """Runs what must fail, and returns the error that it raises."""
    try:
        work()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__} was raised")
