const UNITS = {
  "ml": {"kind": "volume", "factor": 1},
  "l": {"kind": "volume", "factor": 1000},
  "tsp": {"kind": "volume", "factor": 4.928922},
  "tbsp": {"kind": "volume", "factor": 14.786765},
  "floz": {"kind": "volume", "factor": 29.57353},
  "cup": {"kind": "volume", "factor": 236.588237},
  "g": {"kind": "weight", "factor": 1},
  "kg": {"kind": "weight", "factor": 1000},
  "oz": {"kind": "weight", "factor": 28.349523},
  "lb": {"kind": "weight", "factor": 453.59237}
};
