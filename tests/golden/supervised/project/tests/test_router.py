"""The router finds handlers."""

from shop.router import Router


def test_a_route_is_found():
    router = Router()
    router.get("/products")(lambda request: "all")
    assert router.match("/products").pattern == "/products"
