"""One room's calendar. Inside all times are universal; clocks of places are worked out by their rules."""

from datetime import date, datetime, time, timedelta

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
WINTER = {"utc": 0, "kathmandu": 345, "berlin": 60, "new_york": -300}
SUMMER = {"utc": 0, "kathmandu": 345, "berlin": 120, "new_york": -240}


def sundays(year, month):
    first = date(year, month, 1)
    day = first + timedelta(days=(6 - first.weekday()) % 7)
    found = []
    while day.month == month:
        found.append(day)
        day += timedelta(days=7)
    return found


def summer_in_berlin(moment):
    begins = datetime.combine(sundays(moment.year, 3)[-1], time(1))
    ends = datetime.combine(sundays(moment.year, 10)[-1], time(1))
    return begins <= moment < ends


def summer_in_new_york(moment):
    begins = datetime.combine(sundays(moment.year, 3)[1], time(7))
    ends = datetime.combine(sundays(moment.year, 11)[0], time(6))
    return begins <= moment < ends


def is_summer(zone, moment):
    if zone == "berlin":
        return summer_in_berlin(moment)
    if zone == "new_york":
        return summer_in_new_york(moment)
    return False


def local(zone, moment):
    return moment + MINUTE * (SUMMER if is_summer(zone, moment) else WINTER)[zone]


def universal(zone, shown):
    early = shown - MINUTE * SUMMER[zone]
    late = shown - MINUTE * WINTER[zone]
    if local(zone, early) == shown:
        return early
    return late


def refused(why):
    return "refused", {"as": why}


class Subject:
    def __init__(self, clock):
        self.bookings = {}  # name -> [(start, end)]

    def book(self, name, at_time, zone, minutes, weeks):
        if minutes < 1:
            return refused("too-short")
        if minutes > 1440:
            return refused("too-long")
        first = datetime.fromisoformat(at_time)
        starts = [universal(zone, first + timedelta(days=7 * week)) for week in range(weeks)]
        return self.take(name, [(start, start + MINUTE * minutes) for start in starts])

    def book_day(self, name, day, zone):
        midnight = datetime.fromisoformat(day)
        begins = universal(zone, midnight)
        ends = universal(zone, midnight + 24 * HOUR)
        return self.take(name, [(begins, ends)])

    def take(self, name, times):
        for start, end in times:
            for taken_start, taken_end in self.taken():
                if start < taken_end and taken_start < end:
                    return refused("taken")
        self.bookings[name] = times
        return "booked"

    def taken(self):
        return [span for spans in self.bookings.values() for span in spans]

    def cancel(self, name):
        if name not in self.bookings:
            return refused("unknown")
        del self.bookings[name]
        return "cancelled"

    def show(self, name, zone, week):
        if name not in self.bookings or week > len(self.bookings[name]):
            return refused("unknown")
        start = self.bookings[name][week - 1][0]
        return "shown", {"at_time": local(zone, start).isoformat(timespec="minutes")}
