import unittest


class NewTest(unittest.TestCase):
    def test_one(self):
        self.assertTrue(True)
