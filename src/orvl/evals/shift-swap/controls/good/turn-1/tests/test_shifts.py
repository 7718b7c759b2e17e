from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

from cafe.rules import BREAK, HOURS_A_WEEK, week_of
from cafe.times import write_time
from tests.phones import ServerTest


class ShiftsTest(ServerTest):
    def test_a_shift_is_taken_and_dropped(self):
        number = self.shift("2031-05-03T08:00", "2031-05-03T12:00", "mia")
        self.assertEqual(self.ask("tom", "POST", f"/shifts/{number}/take")[0], 409)
        self.assertEqual(self.ask("tom", "POST", f"/shifts/{number}/drop")[0], 403)
        self.assertEqual(self.ask("rosa", "POST", f"/shifts/{number}/drop")[0], 200)
        self.assertEqual(self.holders(), {number: None})

    def test_a_break_is_kept(self):
        self.shift("2031-05-03T08:00", "2031-05-03T12:00", "mia")
        end = datetime(2031, 5, 3, 12) + BREAK
        soon = self.shift(write_time(end - timedelta(minutes=1)), "2031-05-03T16:00")
        later = self.shift(write_time(end), "2031-05-03T16:00")
        self.assertEqual(self.ask("mia", "POST", f"/shifts/{soon}/take")[0], 409)
        self.assertEqual(self.ask("mia", "POST", f"/shifts/{later}/take")[0], 200)

    def test_hours_count_in_the_week_in_which_a_shift_starts(self):
        week = week_of(datetime(2031, 5, 14))
        quarter = HOURS_A_WEEK / 4
        for day in range(4):
            start = week + timedelta(days=day, hours=7)
            self.shift(write_time(start), write_time(start + quarter), "mia")
        last, first = (week + timedelta(days=day, hours=12) for day in (6, 7))
        for start, status in ((last, 409), (first, 200)):
            number = self.shift(write_time(start), write_time(start + timedelta(hours=1)))
            self.assertEqual(self.ask("mia", "POST", f"/shifts/{number}/take")[0], status)

    def test_history_stays(self):
        number = self.shift("2031-05-03T08:00", "2031-05-03T12:00", "mia")
        self.assertEqual(self.ask("mia", "POST", f"/shifts/{number}/drop", now="2031-05-03T08:00")[0], 409)

    def test_nonsense_is_refused(self):
        for time in ("2031-05-03", "2031-05-03T08:00:00", "2031-02-30T08:00", 5, None):
            body = {"start": "2031-05-01T08:00", "end": time}
            self.assertEqual(self.ask("rosa", "POST", "/shifts", body)[0], 400, time)
        self.assertEqual(self.ask("eve", "GET", "/shifts")[0], 401)
        self.assertEqual(self.ask("rosa", "DELETE", f"/shifts/{10**25}")[0], 404)

    def test_eight_phones_get_one_shift_once(self):
        number = self.shift("2031-05-03T08:00", "2031-05-03T12:00")
        with ThreadPoolExecutor(8) as pool:
            answers = pool.map(lambda who: self.ask(who, "POST", f"/shifts/{number}/take")[0], ["mia", "tom", "lea"])
            self.assertEqual(sorted(answers), [200, 409, 409])

    def test_a_restart_keeps_everything(self):
        number = self.shift("2031-05-03T08:00", "2031-05-03T12:00", "mia")
        self.start()
        self.assertEqual(self.holders(), {number: "mia"})
