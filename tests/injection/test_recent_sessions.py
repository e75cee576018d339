from graphmem.injection.recent_sessions import RecentSessions


def test_the_session_that_was_not_used_for_longest_is_dropped_first() -> None:
    sessions = RecentSessions(list[str], most=2)
    sessions.use("a").append("kept")
    sessions.use("b")
    assert sessions.use("a") == ["kept"]
    sessions.use("c")
    assert list(sessions) == ["a", "c"]
    assert sessions.use("b") == [], "a dropped session begins again"
