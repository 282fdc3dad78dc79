module.exports = require("node:util").inherits;
