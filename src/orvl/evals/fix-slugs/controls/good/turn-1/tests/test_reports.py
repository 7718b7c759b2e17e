import unittest

from slugs import slugify, slugify_all


class ReportsTest(unittest.TestCase):
    def test_accents(self):
        self.assertEqual(slugify("Crème Brûlée"), "creme-brulee")

    def test_separators(self):
        self.assertEqual(slugify("Hello, World!", "_"), "hello_world")
        self.assertEqual(slugify("Hello, World!", "."), "hello.world")

    def test_slugify_all_starts_afresh(self):
        self.assertEqual(slugify_all(["Assam"]), ["assam"])
        self.assertEqual(slugify_all(["Assam"]), ["assam"])


if __name__ == "__main__":
    unittest.main()
