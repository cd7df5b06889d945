"""Puts the shop together: routes, middleware, the WSGI callable."""

from shop.cart import Cart
from shop.router import Router

router = Router()
carts = {}


@router.get("/products")
def products(request):
    return request.catalogue.all()


@router.get("/cart")
def cart(request):
    return carts.setdefault(request.session_id, Cart()).lines()


def application(environ, start_response):
    handler = getattr(router, "handle")
    response = handler(environ)
    start_response(response.status, response.headers)
    return response.body
