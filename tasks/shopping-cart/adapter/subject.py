"""A cart: articles, discounts, a voucher, shipping. All money is in cents."""

DAY = 24 * 3600 * 1000


def refused(why):
    return "refused", {"as": why}


class Subject:
    def __init__(self, clock):
        self.clock = clock
        self.prices = {}
        self.pieces = {}  # article -> pieces in the cart
        self.is_member = False
        self.has_voucher = False

    def sells(self, article, cents):
        self.prices[article] = cents

    def member(self):
        self.is_member = True

    def add(self, article, pieces):
        if pieces < 1:
            return refused("too-few")
        there = self.pieces.get(article, 0)
        if there + pieces > 20:
            return refused("too-many")
        self.pieces[article] = there + pieces
        return "taken"

    def remove(self, article):
        if article not in self.pieces:
            return refused("absent")
        del self.pieces[article]
        return "taken"

    def voucher(self):
        if self.has_voucher:
            return refused("already")
        if self.clock.ms > 7 * DAY:
            return refused("ended")
        if self.goods() < 5000:
            return refused("too-little")
        self.has_voucher = True
        return "taken"

    def goods(self):
        return sum(self.line(self.prices[article] * count, count) for article, count in self.pieces.items())

    def line(self, cents, count):
        percent = 0
        if self.is_member:
            percent = 5
        if count >= 10:
            percent = 10
        return cents - (cents * percent + 50) // 100

    def pay(self):
        if not self.pieces:
            return refused("empty")
        goods = self.goods()
        if self.has_voucher and goods >= 5_000:
            goods -= 1000
        shipping = 0 if goods >= 8000 else 490
        return "paid", {"cents": goods + shipping, "shipping": shipping}
