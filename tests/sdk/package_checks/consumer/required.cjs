module.exports = require('waylink');
