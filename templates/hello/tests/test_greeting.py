from greeting import greet


def test_a_name_is_greeted():
    assert greet("Hello", "Ada") == "Hello, Ada!\n"


def test_a_blank_name_greets_the_world():
    assert greet("Hello", "  ") == "Hello, World!\n"
