"""What users have reported."""

import unittest

import slugs


class FromUsers(unittest.TestCase):
    def test_letters_lose_their_accents_and_stay(self):
        for title, slug in {"Crème Brûlée": "creme-brulee", "Öl à la carte": "ol-a-la-carte"}.items():
            with self.subTest(title):
                self.assertEqual(slugs.slugify(title), slug)

    def test_each_separator_is_taken_as_it_is(self):
        for separator in "_.+":
            with self.subTest(separator):
                self.assertEqual(slugs.slugify("Hello, World!", separator), f"hello{separator}world")

    def test_a_second_call_knows_nothing_of_the_first(self):
        first, second = slugs.slugify_all(["Kombu", "Nori"]), slugs.slugify_all(["Kombu", "Nori"])
        self.assertEqual(first, second)
        self.assertEqual(second, ["kombu", "nori"])
