import unittest

from slugs import is_slug, slugify, slugify_all


class SlugifyTest(unittest.TestCase):
    def test_words_are_joined(self):
        self.assertEqual(slugify("Ten Tips for Better Tea"), "ten-tips-for-better-tea")

    def test_punctuation_parts_words(self):
        self.assertEqual(slugify("  Tea, milk & sugar!  "), "tea-milk-sugar")

    def test_apostrophes_vanish(self):
        self.assertEqual(slugify("Don't panic"), "dont-panic")

    def test_nothing_left(self):
        self.assertEqual(slugify("?!"), "")

    def test_separator(self):
        self.assertEqual(slugify("Green tea", "_"), "green_tea")


class SlugifyAllTest(unittest.TestCase):
    def test_each_slug_once(self):
        self.assertEqual(slugify_all(["Black Tea", "White Tea", "Black tea!"]), ["black-tea", "white-tea"])

    def test_seen_slugs_are_left_out(self):
        self.assertEqual(slugify_all(["Oolong", "Matcha"], seen={"oolong"}), ["matcha"])


class IsSlugTest(unittest.TestCase):
    def test_is_slug(self):
        self.assertTrue(is_slug("green-tea-2"))
        for text in ("", "Green", "green--tea", "-green", "green\n"):
            self.assertFalse(is_slug(text), text)


if __name__ == "__main__":
    unittest.main()
