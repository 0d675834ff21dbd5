"""At a real terminal: hotkeys and Ctrl-C. What has the keyboard meanwhile: ``test_breakpoints``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dev_session import Dev, Project, children_of, eventually, is_gone

if TYPE_CHECKING:
    from collections.abc import Callable

type MakeProject = Callable[..., Project]
type RunDev = Callable[..., Dev]


def test_r_reloads_c_clears_and_x_exits(project: MakeProject, dev: RunDev) -> None:
    session = dev(project("web"), terminal=True).ready()
    session.wait_for(r"\[r\] reload  \[c\] clear  \[x\] exit")
    child = session.serving_child()
    old = {child, *children_of(child)}
    session.type("r")
    session.wait_for("Reloaded in")
    eventually(lambda: all(map(is_gone, old)), "the old code's processes end")
    assert not session.echoes()
    session.type("c")
    session.wait_for(r"\x1b\[2J")
    session.children()
    session.type("x")
    assert session.wait() == 0
    assert session.echoes()


def test_ctrl_c_ends_it_and_leaves_the_terminal_as_it_was(
    project: MakeProject, dev: RunDev
) -> None:
    session = dev(project("web"), terminal=True).ready()
    session.wait_for("exit")
    eventually(lambda: not session.echoes(), "keys are read one by one")
    session.children()
    session.type("\x03")
    assert session.wait() == 0
    assert session.echoes()
