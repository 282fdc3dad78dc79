module.exports = {
  watch: () => Promise.resolve(),
  getInfo: (path) => ({ event: "mock", path, type: "file", flags: 0xffffffff, changes: { inode: false, finder: false, access: false, xattrs: false } }),
};
