import unittest


class Merge(unittest.TestCase):
    def test_merging(self):
        from onelist.__main__ import merge

        self.assertEqual(len(merge([])), 0)


if __name__ == "__main__":
    unittest.main()
