"amount from to result UNITS swap message Cannot convert addEventListener input change textContent toFixed";
