"""What a customer wants to buy."""


class Cart:
    """Lines of product and quantity."""

    def __init__(self):
        self._lines = {}

    def add(self, product, quantity=1):
        self._lines[product] = self._lines.get(product, 0) + quantity

    def remove(self, product):
        del self._lines[product]

    def lines(self):
        return list(self._lines.items())

    def total(self, prices):
        total = 0
        for product, quantity in self._lines.items():
            total += prices[product] * quantity
        return total
