import unittest

from slugs import slugify, slugify_all, unique


class ReportsTest(unittest.TestCase):
    def test_accents(self):
        self.assertEqual(slugify("Crème Brûlée"), "creme-brulee")

    def test_separators(self):
        self.assertEqual(slugify("Hello, World!", "_"), "hello_world")
        self.assertEqual(slugify("Hello, World!", "."), "hello.world")

    def test_slugify_all_starts_afresh(self):
        self.assertEqual(slugify_all(["Assam"]), ["assam"])
        self.assertEqual(slugify_all(["Assam"]), ["assam"])


class MaxLengthTest(unittest.TestCase):
    def test_words_stay_whole(self):
        self.assertEqual(slugify("The quick brown fox", max_length=12), "the-quick")
        self.assertEqual(slugify("The quick brown fox", max_length=9), "the-quick")
        self.assertEqual(slugify("Extraordinary", max_length=5), "")

    def test_too_small(self):
        with self.assertRaises(ValueError):
            slugify("Tea", max_length=0)


class UniqueTest(unittest.TestCase):
    def test_first_free_number(self):
        self.assertEqual(unique("tea", []), "tea")
        self.assertEqual(unique("tea", ["tea", "tea-2"]), "tea-3")

    def test_generator(self):
        self.assertEqual(unique("tea", (slug for slug in ["tea-2", "tea"])), "tea-3")


if __name__ == "__main__":
    unittest.main()
