"""Members' accounts: links for forgotten passwords, and signing in."""

MINUTE = 60_000


def refused(why):
    return "refused", {"as": why}


class Subject:
    def __init__(self, clock):
        self.clock = clock
        self.passwords = {}  # address -> passwords, the present one last
        self.links = {}  # name -> [address, time, state]
        self.wrong = {}  # address -> wrong passwords in a row

    def account(self, email, password):
        self.passwords[email] = [password]
        self.wrong[email] = 0

    def ask(self, email, link):
        for other in self.links.values():
            if other[0] == email and other[2] == "fresh":
                other[2] = "replaced"
        if email in self.passwords:
            self.links[link] = [email, self.clock.ms, "fresh"]
        return "sent"

    def reset(self, link, password, again):
        if link not in self.links:
            return refused("unknown")
        email, asked, state = self.links[link]
        if state != "fresh":
            return refused(state)
        if self.clock.ms - asked > 30 * MINUTE:
            return refused("expired")
        if why := self.fault(self.passwords[email], password, again):
            return refused(why)
        self.links[link][2] = "used"
        self.passwords[email].append(password)
        self.wrong[email] = 0
        return "done"

    def fault(self, passwords, password, again):
        if password != again:
            return "not-equal"
        if len(password) < 10:
            return "too-short"
        if len(password) > 64:
            return "too-long"
        if not any(char.isalpha() for char in password):
            return "too-simple"
        if not any(char.isdigit() for char in password):
            return "too-simple"
        if password in passwords[-3:]:
            return "not-new"
        return ""

    def sign_in(self, email, password):
        if email not in self.passwords:
            return refused("unknown")
        if self.wrong[email] >= 5:
            return refused("locked")
        if password != self.passwords[email][-1]:
            self.wrong[email] += 1
            return refused("wrong")
        self.wrong[email] = 0
        return "signed_in"
