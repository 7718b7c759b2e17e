from concurrent.futures import ThreadPoolExecutor

from tests.phones import ServerTest

AGAIN = {"{{header}}": "8f2c41"}
BODY = {"start": "2031-05-03T08:00", "end": "2031-05-03T12:00"}


class AnswersTest(ServerTest):
    def test_a_request_that_is_sent_again_counts_once(self):
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: self.ask("rosa", "POST", "/shifts", BODY, headers=AGAIN), range(8)))
        self.assertEqual(answers, [answers[0]] * 8)
        self.assertEqual(answers[0][0], 201)
        self.assertEqual(len(self.holders()), 1)

    def test_a_no_stays_a_no_after_a_restart(self):
        number = self.shift(BODY["start"], BODY["end"], "mia")
        take = ("tom", "POST", f"/shifts/{number}/take")
        self.assertEqual(self.ask(*take, headers=AGAIN)[0], 409)
        self.ask("mia", "POST", f"/shifts/{number}/drop")
        self.start()
        self.assertEqual(self.ask(*take, headers=AGAIN)[0], 409)
        self.assertEqual(self.holders(), {number: None})
        self.assertEqual(self.ask(*take)[0], 200)
