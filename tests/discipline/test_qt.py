"""What a test of the window may not leave behind, and that Qt's warnings fail it at whatever moment they come."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.discipline.samples import Run, run_samples

pytestmark = pytest.mark.gui

SAMPLES = """
    import pytest
    from PySide6.QtCore import QObject, QThread, QTimer, QVariantAnimation, qWarning
    from PySide6.QtWidgets import QLabel, QWidget

    kept = []

    def test_timer_left(qapp):
        timer = QTimer(objectName="left-timer")
        timer.start(60_000)
        kept.append(timer)

    def test_timer_stopped(qapp):
        timer = QTimer()
        timer.start(60_000)
        timer.stop()

    def test_timer_of_a_widget_that_is_closed(qtbot):
        widget = QWidget()
        qtbot.addWidget(widget)
        QTimer(widget).start(60_000)

    def test_animation_left(qapp):
        animation = QVariantAnimation(startValue=0.0, endValue=1.0, duration=60_000)
        animation.start()
        kept.append(animation)

    def test_thread_left(qapp):
        thread = QThread(objectName="left-thread")
        thread.start()
        kept.append(thread)

    def test_thread_ended(qapp):
        thread = QThread()
        thread.start()
        thread.quit()
        assert thread.wait(10_000)

    def test_warning_of_ours(qapp):
        qWarning("warned in a test")

    def test_warning_of_qt(qapp):
        QObject().startTimer(-1)

    @pytest.fixture
    def warns_at_the_end(qapp):
        yield
        qWarning("warned while the fixture ended")

    def test_warning_of_a_fixture(warns_at_the_end):
        pass

    def test_exception_in_a_slot(qapp):
        def fail():
            raise ValueError("raised in a slot")
        QTimer.singleShot(0, fail)
        qapp.processEvents()

    def test_widget_shown(qtbot):
        label = QLabel("text with an ä and 漢字")
        qtbot.addWidget(label)
        with qtbot.waitExposed(label):
            label.show()
"""

FAILING = {
    "test_timer_left": "QTimer (left-timer) still runs",
    "test_animation_left": "QVariantAnimation (without a name) still runs",
    "test_thread_left": "QThread (left-thread) still runs",
    "test_warning_of_ours": "warned in a test",
    "test_warning_of_qt": "QObject::startTimer",
    "test_warning_of_a_fixture": "Qt warned: warned while the fixture ended",
    "test_exception_in_a_slot": "raised in a slot",
}
PASSING = {"test_timer_stopped", "test_timer_of_a_widget_that_is_closed", "test_thread_ended", "test_widget_shown"}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_samples(tmp_path_factory.mktemp("qt"), SAMPLES)


@pytest.mark.parametrize("name", FAILING)
def test_a_test_that_leaves_qt_running_or_makes_it_warn_fails(outcome: Run, name: str) -> None:
    assert FAILING[name] in outcome.complaints[name]


@pytest.mark.parametrize("name", sorted(PASSING))
def test_a_test_that_puts_qt_to_rest_passes(outcome: Run, name: str) -> None:
    assert outcome.complaints[name] == ""


def test_every_sample_is_judged(outcome: Run) -> None:
    assert outcome.complaints.keys() == FAILING.keys() | PASSING
    assert outcome.status == pytest.ExitCode.TESTS_FAILED


def test_a_warning_fails_the_test_also_when_output_is_not_captured(tmp_path: Path) -> None:
    source = """
        from PySide6.QtCore import qWarning

        def test_warns(qapp):
            qWarning("warned under -s")
    """
    assert "Qt warned: warned under -s" in run_samples(tmp_path, source, "-s").complaints["test_warns"]
