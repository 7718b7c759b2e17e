// units
var units = {cup: 250, gram: 1, spoon: 15,}
