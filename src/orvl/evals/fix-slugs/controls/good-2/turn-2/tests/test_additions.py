"""max_length and unique."""

import unittest

import slugs


class MaxLength(unittest.TestCase):
    def test_keeps_words_whole(self):
        found = [slugs.slugify("The quick brown fox", max_length=length) for length in (2, 3, 8, 9, 12, 19)]
        self.assertEqual(found, ["", "the", "the", "the-quick", "the-quick", "the-quick-brown-fox"])

    def test_must_be_positive(self):
        self.assertRaises(ValueError, slugs.slugify, "Tea", max_length=0)


class Unique(unittest.TestCase):
    def test_counts_from_two(self):
        taken = ["tea"]
        for wanted in ("tea-2", "tea-3"):
            self.assertEqual(slugs.unique("tea", iter(taken)), wanted)
            taken.append(wanted)

    def test_free_ones_stay(self):
        self.assertEqual(slugs.unique("tea", {"teas", "tea-2"}), "tea")
