"""What the router promises; two of these are red until it is mended."""

import unittest

from shop.router import Router, call


def shop():
    """Return a shop with two routes."""
    router = Router()
    router.add("/items/*", lambda path: f"item {path}")
    router.add("/items/new", lambda path: f"a new item at {path}")
    return router


class RouterTest(unittest.TestCase):
    """The three promises."""

    def test_a_pattern_with_a_star_takes_the_rest(self):
        """One route, many paths."""
        self.assertEqual(call(shop(), "/items/7"), "item /items/7")

    def test_the_most_exact_pattern_wins(self):
        """Whatever was added first."""
        self.assertEqual(call(shop(), "/items/new"), "a new item at /items/new")

    def test_an_unknown_path_is_named(self):
        """An error that helps."""
        from shop.errors import NotFound

        with self.assertRaisesRegex(NotFound, "/nowhere"):
            call(shop(), "/nowhere")


if __name__ == "__main__":
    unittest.main()
