// The numbers and names that node:os, node:zlib, node:fs, node:crypto, node:dns, node:http
// and node:util publish: Linux's, zlib's, brotli's, zstd's and HTTP's own.
// Each table is made when a module asks for it.
function (native, p) {
  "use strict";
  const { Map, ObjectFreeze } = p;
  return {
    get os() {
      return ObjectFreeze({
        UV_UDP_REUSEADDR: 4,
        dlopen: ObjectFreeze({
      RTLD_LAZY: 1, RTLD_NOW: 2, RTLD_GLOBAL: 256, RTLD_LOCAL: 0, RTLD_DEEPBIND: 8,
    }),
        errno: ObjectFreeze({
      E2BIG: 7, EACCES: 13, EADDRINUSE: 98, EADDRNOTAVAIL: 99, EAFNOSUPPORT: 97, EAGAIN: 11, EALREADY: 114, EBADF: 9,
      EBADMSG: 74, EBUSY: 16, ECANCELED: 125, ECHILD: 10, ECONNABORTED: 103, ECONNREFUSED: 111, ECONNRESET: 104,
      EDEADLK: 35, EDESTADDRREQ: 89, EDOM: 33, EDQUOT: 122, EEXIST: 17, EFAULT: 14, EFBIG: 27, EHOSTUNREACH: 113,
      EIDRM: 43, EILSEQ: 84, EINPROGRESS: 115, EINTR: 4, EINVAL: 22, EIO: 5, EISCONN: 106, EISDIR: 21, ELOOP: 40,
      EMFILE: 24, EMLINK: 31, EMSGSIZE: 90, EMULTIHOP: 72, ENAMETOOLONG: 36, ENETDOWN: 100, ENETRESET: 102,
      ENETUNREACH: 101, ENFILE: 23, ENOBUFS: 105, ENODATA: 61, ENODEV: 19, ENOENT: 2, ENOEXEC: 8, ENOLCK: 37,
      ENOLINK: 67, ENOMEM: 12, ENOMSG: 42, ENOPROTOOPT: 92, ENOSPC: 28, ENOSR: 63, ENOSTR: 60, ENOSYS: 38,
      ENOTCONN: 107, ENOTDIR: 20, ENOTEMPTY: 39, ENOTSOCK: 88, ENOTSUP: 95, ENOTTY: 25, ENXIO: 6, EOPNOTSUPP: 95,
      EOVERFLOW: 75, EPERM: 1, EPIPE: 32, EPROTO: 71, EPROTONOSUPPORT: 93, EPROTOTYPE: 91, ERANGE: 34, EROFS: 30,
      ESPIPE: 29, ESRCH: 3, ESTALE: 116, ETIME: 62, ETIMEDOUT: 110, ETXTBSY: 26, EWOULDBLOCK: 11, EXDEV: 18,
    }),
        signals: ObjectFreeze({
      SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGILL: 4, SIGTRAP: 5, SIGABRT: 6, SIGIOT: 6, SIGBUS: 7, SIGFPE: 8,
      SIGKILL: 9, SIGUSR1: 10, SIGSEGV: 11, SIGUSR2: 12, SIGPIPE: 13, SIGALRM: 14, SIGTERM: 15, SIGCHLD: 17,
      SIGSTKFLT: 16, SIGCONT: 18, SIGSTOP: 19, SIGTSTP: 20, SIGTTIN: 21, SIGTTOU: 22, SIGURG: 23, SIGXCPU: 24,
      SIGXFSZ: 25, SIGVTALRM: 26, SIGPROF: 27, SIGWINCH: 28, SIGIO: 29, SIGPOLL: 29, SIGPWR: 30, SIGSYS: 31,
    }),
        priority: ObjectFreeze({
      PRIORITY_LOW: 19, PRIORITY_BELOW_NORMAL: 10, PRIORITY_NORMAL: 0, PRIORITY_ABOVE_NORMAL: -7, PRIORITY_HIGH: -14,
      PRIORITY_HIGHEST: -20,
    }),
      });
    },
    get zlib() { return {
      Z_NO_FLUSH: 0, Z_PARTIAL_FLUSH: 1, Z_SYNC_FLUSH: 2, Z_FULL_FLUSH: 3, Z_FINISH: 4, Z_BLOCK: 5, Z_OK: 0,
      Z_STREAM_END: 1, Z_NEED_DICT: 2, Z_ERRNO: -1, Z_STREAM_ERROR: -2, Z_DATA_ERROR: -3, Z_MEM_ERROR: -4,
      Z_BUF_ERROR: -5, Z_VERSION_ERROR: -6, Z_NO_COMPRESSION: 0, Z_BEST_SPEED: 1, Z_BEST_COMPRESSION: 9,
      Z_DEFAULT_COMPRESSION: -1, Z_FILTERED: 1, Z_HUFFMAN_ONLY: 2, Z_RLE: 3, Z_FIXED: 4, Z_DEFAULT_STRATEGY: 0,
      ZLIB_VERNUM: 5120, DEFLATE: 1, INFLATE: 2, GZIP: 3, GUNZIP: 4, DEFLATERAW: 5, INFLATERAW: 6, UNZIP: 7,
      BROTLI_DECODE: 8, BROTLI_ENCODE: 9, Z_MIN_WINDOWBITS: 8, Z_MAX_WINDOWBITS: 15, Z_DEFAULT_WINDOWBITS: 15,
      Z_MIN_CHUNK: 64, Z_MAX_CHUNK: 134217728, Z_DEFAULT_CHUNK: 16384, Z_MIN_MEMLEVEL: 1, Z_MAX_MEMLEVEL: 9,
      Z_DEFAULT_MEMLEVEL: 8, Z_MIN_LEVEL: -1, Z_MAX_LEVEL: 9, Z_DEFAULT_LEVEL: -1, BROTLI_OPERATION_PROCESS: 0,
      BROTLI_OPERATION_FLUSH: 1, BROTLI_OPERATION_FINISH: 2, BROTLI_OPERATION_EMIT_METADATA: 3, BROTLI_PARAM_MODE: 0,
      BROTLI_MODE_GENERIC: 0, BROTLI_MODE_TEXT: 1, BROTLI_MODE_FONT: 2, BROTLI_DEFAULT_MODE: 0,
      BROTLI_PARAM_QUALITY: 1, BROTLI_MIN_QUALITY: 0, BROTLI_MAX_QUALITY: 11, BROTLI_DEFAULT_QUALITY: 11,
      BROTLI_PARAM_LGWIN: 2, BROTLI_MIN_WINDOW_BITS: 10, BROTLI_MAX_WINDOW_BITS: 24, BROTLI_LARGE_MAX_WINDOW_BITS: 30,
      BROTLI_DEFAULT_WINDOW: 22, BROTLI_PARAM_LGBLOCK: 3, BROTLI_MIN_INPUT_BLOCK_BITS: 16,
      BROTLI_MAX_INPUT_BLOCK_BITS: 24, BROTLI_PARAM_DISABLE_LITERAL_CONTEXT_MODELING: 4, BROTLI_PARAM_SIZE_HINT: 5,
      BROTLI_PARAM_LARGE_WINDOW: 6, BROTLI_PARAM_NPOSTFIX: 7, BROTLI_PARAM_NDIRECT: 8, BROTLI_DECODER_RESULT_ERROR: 0,
      BROTLI_DECODER_RESULT_SUCCESS: 1, BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: 2,
      BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT: 3, BROTLI_DECODER_PARAM_DISABLE_RING_BUFFER_REALLOCATION: 0,
      BROTLI_DECODER_PARAM_LARGE_WINDOW: 1, BROTLI_DECODER_NO_ERROR: 0, BROTLI_DECODER_SUCCESS: 1,
      BROTLI_DECODER_NEEDS_MORE_INPUT: 2, BROTLI_DECODER_NEEDS_MORE_OUTPUT: 3,
      BROTLI_DECODER_ERROR_FORMAT_EXUBERANT_NIBBLE: -1, BROTLI_DECODER_ERROR_FORMAT_RESERVED: -2,
      BROTLI_DECODER_ERROR_FORMAT_EXUBERANT_META_NIBBLE: -3, BROTLI_DECODER_ERROR_FORMAT_SIMPLE_HUFFMAN_ALPHABET: -4,
      BROTLI_DECODER_ERROR_FORMAT_SIMPLE_HUFFMAN_SAME: -5, BROTLI_DECODER_ERROR_FORMAT_CL_SPACE: -6,
      BROTLI_DECODER_ERROR_FORMAT_HUFFMAN_SPACE: -7, BROTLI_DECODER_ERROR_FORMAT_CONTEXT_MAP_REPEAT: -8,
      BROTLI_DECODER_ERROR_FORMAT_BLOCK_LENGTH_1: -9, BROTLI_DECODER_ERROR_FORMAT_BLOCK_LENGTH_2: -10,
      BROTLI_DECODER_ERROR_FORMAT_TRANSFORM: -11, BROTLI_DECODER_ERROR_FORMAT_DICTIONARY: -12,
      BROTLI_DECODER_ERROR_FORMAT_WINDOW_BITS: -13, BROTLI_DECODER_ERROR_FORMAT_PADDING_1: -14,
      BROTLI_DECODER_ERROR_FORMAT_PADDING_2: -15, BROTLI_DECODER_ERROR_FORMAT_DISTANCE: -16,
      BROTLI_DECODER_ERROR_DICTIONARY_NOT_SET: -19, BROTLI_DECODER_ERROR_INVALID_ARGUMENTS: -20,
      BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES: -21, BROTLI_DECODER_ERROR_ALLOC_TREE_GROUPS: -22,
      BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MAP: -25, BROTLI_DECODER_ERROR_ALLOC_RING_BUFFER_1: -26,
      BROTLI_DECODER_ERROR_ALLOC_RING_BUFFER_2: -27, BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES: -30,
      BROTLI_DECODER_ERROR_UNREACHABLE: -31, ZSTD_ENCODE: 10, ZSTD_DECODE: 11, ZSTD_COMPRESS: 10, ZSTD_DECOMPRESS: 11,
      ZSTD_e_continue: 0, ZSTD_e_flush: 1, ZSTD_e_end: 2, ZSTD_c_compressionLevel: 100, ZSTD_c_windowLog: 101,
      ZSTD_c_hashLog: 102, ZSTD_c_chainLog: 103, ZSTD_c_searchLog: 104, ZSTD_c_minMatch: 105,
      ZSTD_c_targetLength: 106, ZSTD_c_strategy: 107, ZSTD_c_enableLongDistanceMatching: 160, ZSTD_c_ldmHashLog: 161,
      ZSTD_c_ldmMinMatch: 162, ZSTD_c_ldmBucketSizeLog: 163, ZSTD_c_ldmHashRateLog: 164, ZSTD_c_contentSizeFlag: 200,
      ZSTD_c_checksumFlag: 201, ZSTD_c_dictIDFlag: 202, ZSTD_c_nbWorkers: 400, ZSTD_c_jobSize: 401,
      ZSTD_c_overlapLog: 402, ZSTD_d_windowLogMax: 100, ZSTD_fast: 1, ZSTD_dfast: 2, ZSTD_greedy: 3, ZSTD_lazy: 4,
      ZSTD_lazy2: 5, ZSTD_btlazy2: 6, ZSTD_btopt: 7, ZSTD_btultra: 8, ZSTD_btultra2: 9, ZSTD_CLEVEL_DEFAULT: 3,
      ZSTD_error_no_error: 0, ZSTD_error_GENERIC: 1, ZSTD_error_prefix_unknown: 10,
      ZSTD_error_version_unsupported: 12, ZSTD_error_frameParameter_unsupported: 14,
      ZSTD_error_frameParameter_windowTooLarge: 16, ZSTD_error_corruption_detected: 20, ZSTD_error_checksum_wrong: 22,
      ZSTD_error_literals_headerWrong: 24, ZSTD_error_dictionary_corrupted: 30, ZSTD_error_dictionary_wrong: 32,
      ZSTD_error_dictionaryCreation_failed: 34, ZSTD_error_parameter_unsupported: 40,
      ZSTD_error_parameter_combination_unsupported: 41, ZSTD_error_parameter_outOfBound: 42,
      ZSTD_error_tableLog_tooLarge: 44, ZSTD_error_maxSymbolValue_tooLarge: 46,
      ZSTD_error_maxSymbolValue_tooSmall: 48, ZSTD_error_stabilityCondition_notRespected: 50,
      ZSTD_error_stage_wrong: 60, ZSTD_error_init_missing: 62, ZSTD_error_memory_allocation: 64,
      ZSTD_error_workSpace_tooSmall: 66, ZSTD_error_dstSize_tooSmall: 70, ZSTD_error_srcSize_wrong: 72,
      ZSTD_error_dstBuffer_null: 74, ZSTD_error_noForwardProgress_destFull: 80,
      ZSTD_error_noForwardProgress_inputEmpty: 82,
    }; },
    get fs() { return {
      COPYFILE_EXCL: 1, COPYFILE_FICLONE: 2, COPYFILE_FICLONE_FORCE: 4, EXTENSIONLESS_FORMAT_JAVASCRIPT: 0,
      EXTENSIONLESS_FORMAT_WASM: 1, F_OK: 0, O_APPEND: 1024, O_CREAT: 64, O_DIRECT: 16384, O_DIRECTORY: 65536,
      O_DSYNC: 4096, O_EXCL: 128, O_NOATIME: 262144, O_NOCTTY: 256, O_NOFOLLOW: 131072, O_NONBLOCK: 2048, O_RDONLY: 0,
      O_RDWR: 2, O_SYNC: 1052672, O_TRUNC: 512, O_WRONLY: 1, R_OK: 4, S_IFBLK: 24576, S_IFCHR: 8192, S_IFDIR: 16384,
      S_IFIFO: 4096, S_IFLNK: 40960, S_IFMT: 61440, S_IFREG: 32768, S_IFSOCK: 49152, S_IRGRP: 32, S_IROTH: 4,
      S_IRUSR: 256, S_IRWXG: 56, S_IRWXO: 7, S_IRWXU: 448, S_IWGRP: 16, S_IWOTH: 2, S_IWUSR: 128, S_IXGRP: 8,
      S_IXOTH: 1, S_IXUSR: 64, UV_DIRENT_BLOCK: 7, UV_DIRENT_CHAR: 6, UV_DIRENT_DIR: 2, UV_DIRENT_FIFO: 4,
      UV_DIRENT_FILE: 1, UV_DIRENT_LINK: 3, UV_DIRENT_SOCKET: 5, UV_DIRENT_UNKNOWN: 0, UV_FS_COPYFILE_EXCL: 1,
      UV_FS_COPYFILE_FICLONE: 2, UV_FS_COPYFILE_FICLONE_FORCE: 4, UV_FS_O_FILEMAP: 0, UV_FS_SYMLINK_DIR: 1,
      UV_FS_SYMLINK_JUNCTION: 2, W_OK: 2, X_OK: 1,
    }; },
    get crypto() { return {
      __proto__: null,
      OPENSSL_VERSION_NUMBER: 805306624,
      SSL_OP_ALL: 2147485776, SSL_OP_ALLOW_NO_DHE_KEX: 1024, SSL_OP_ALLOW_UNSAFE_LEGACY_RENEGOTIATION: 262144, SSL_OP_CIPHER_SERVER_PREFERENCE: 4194304,
      SSL_OP_CISCO_ANYCONNECT: 32768, SSL_OP_COOKIE_EXCHANGE: 8192, SSL_OP_CRYPTOPRO_TLSEXT_BUG: 2147483648, SSL_OP_DONT_INSERT_EMPTY_FRAGMENTS: 2048,
      SSL_OP_LEGACY_SERVER_CONNECT: 4, SSL_OP_NO_COMPRESSION: 131072, SSL_OP_NO_ENCRYPT_THEN_MAC: 524288, SSL_OP_NO_QUERY_MTU: 4096,
      SSL_OP_NO_RENEGOTIATION: 1073741824, SSL_OP_NO_SESSION_RESUMPTION_ON_RENEGOTIATION: 65536, SSL_OP_NO_SSLv2: 0, SSL_OP_NO_SSLv3: 33554432,
      SSL_OP_NO_TICKET: 16384, SSL_OP_NO_TLSv1: 67108864, SSL_OP_NO_TLSv1_1: 268435456, SSL_OP_NO_TLSv1_2: 134217728, SSL_OP_NO_TLSv1_3: 536870912,
      SSL_OP_PRIORITIZE_CHACHA: 2097152, SSL_OP_TLS_ROLLBACK_BUG: 8388608,
      ENGINE_METHOD_RSA: 1, ENGINE_METHOD_DSA: 2, ENGINE_METHOD_DH: 4, ENGINE_METHOD_RAND: 8, ENGINE_METHOD_EC: 2048, ENGINE_METHOD_CIPHERS: 64,
      ENGINE_METHOD_DIGESTS: 128, ENGINE_METHOD_PKEY_METHS: 512, ENGINE_METHOD_PKEY_ASN1_METHS: 1024, ENGINE_METHOD_ALL: 65535, ENGINE_METHOD_NONE: 0,
      DH_CHECK_P_NOT_SAFE_PRIME: 2, DH_CHECK_P_NOT_PRIME: 1, DH_UNABLE_TO_CHECK_GENERATOR: 4, DH_NOT_SUITABLE_GENERATOR: 8,
      RSA_PKCS1_PADDING: 1, RSA_NO_PADDING: 3, RSA_PKCS1_OAEP_PADDING: 4, RSA_X931_PADDING: 5, RSA_PKCS1_PSS_PADDING: 6,
      RSA_PSS_SALTLEN_DIGEST: -1, RSA_PSS_SALTLEN_MAX_SIGN: -2, RSA_PSS_SALTLEN_AUTO: -2, defaultCoreCipherList: "", defaultCipherList: "",
      TLS1_VERSION: 769, TLS1_1_VERSION: 770, TLS1_2_VERSION: 771, TLS1_3_VERSION: 772,
      POINT_CONVERSION_COMPRESSED: 2, POINT_CONVERSION_UNCOMPRESSED: 4, POINT_CONVERSION_HYBRID: 6,
    }; },
    get dns() { return {
      ADDRCONFIG: 1024, ADDRGETNETWORKPARAMS: "EADDRGETNETWORKPARAMS", ALL: 256, BADFAMILY: "EBADFAMILY",
      BADFLAGS: "EBADFLAGS", BADHINTS: "EBADHINTS", BADNAME: "EBADNAME", BADQUERY: "EBADQUERY", BADRESP: "EBADRESP",
      BADSTR: "EBADSTR", CANCELLED: "ECANCELLED", CONNREFUSED: "ECONNREFUSED", DESTRUCTION: "EDESTRUCTION",
      EOF: "EOF", FILE: "EFILE", FORMERR: "EFORMERR", LOADIPHLPAPI: "ELOADIPHLPAPI", NODATA: "ENODATA",
      NOMEM: "ENOMEM", NONAME: "ENONAME", NOTFOUND: "ENOTFOUND", NOTIMP: "ENOTIMP", NOTINITIALIZED: "ENOTINITIALIZED",
      REFUSED: "EREFUSED", SERVFAIL: "ESERVFAIL", TIMEOUT: "ETIMEOUT", V4MAPPED: 2048,
    }; },
    get status() { return {
      "100": "Continue", "101": "Switching Protocols", "102": "Processing", "103": "Early Hints", "200": "OK",
      "201": "Created", "202": "Accepted", "203": "Non-Authoritative Information", "204": "No Content",
      "205": "Reset Content", "206": "Partial Content", "207": "Multi-Status", "208": "Already Reported",
      "226": "IM Used", "300": "Multiple Choices", "301": "Moved Permanently", "302": "Found", "303": "See Other",
      "304": "Not Modified", "305": "Use Proxy", "307": "Temporary Redirect", "308": "Permanent Redirect",
      "400": "Bad Request", "401": "Unauthorized", "402": "Payment Required", "403": "Forbidden", "404": "Not Found",
      "405": "Method Not Allowed", "406": "Not Acceptable", "407": "Proxy Authentication Required",
      "408": "Request Timeout", "409": "Conflict", "410": "Gone", "411": "Length Required",
      "412": "Precondition Failed", "413": "Payload Too Large", "414": "URI Too Long",
      "415": "Unsupported Media Type", "416": "Range Not Satisfiable", "417": "Expectation Failed",
      "418": "I'm a Teapot", "421": "Misdirected Request", "422": "Unprocessable Entity", "423": "Locked",
      "424": "Failed Dependency", "425": "Too Early", "426": "Upgrade Required", "428": "Precondition Required",
      "429": "Too Many Requests", "431": "Request Header Fields Too Large", "451": "Unavailable For Legal Reasons",
      "500": "Internal Server Error", "501": "Not Implemented", "502": "Bad Gateway", "503": "Service Unavailable",
      "504": "Gateway Timeout", "505": "HTTP Version Not Supported", "506": "Variant Also Negotiates",
      "507": "Insufficient Storage", "508": "Loop Detected", "509": "Bandwidth Limit Exceeded", "510": "Not Extended",
      "511": "Network Authentication Required",
    }; },
    methods: ("ACL BIND CHECKOUT CONNECT COPY DELETE GET HEAD LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL MOVE NOTIFY OPTIONS PATCH POST PROPFIND PROPPATCH PURGE PUT QUERY REBIND REPORT SEARCH SOURCE SUBSCRIBE TRACE UNBIND UNLINK UNLOCK UNSUBSCRIBE").split(" "),
    // libuv's error numbers: number, name, text.
    get systemErrors() {
      const map = new Map();
      for (const line of (`      -7 E2BIG argument list too long
      -13 EACCES permission denied
      -98 EADDRINUSE address already in use
      -99 EADDRNOTAVAIL address not available
      -97 EAFNOSUPPORT address family not supported
      -11 EAGAIN resource temporarily unavailable
      -3000 EAI_ADDRFAMILY address family not supported
      -3001 EAI_AGAIN temporary failure
      -3002 EAI_BADFLAGS bad ai_flags value
      -3013 EAI_BADHINTS invalid value for hints
      -3003 EAI_CANCELED request canceled
      -3004 EAI_FAIL permanent failure
      -3005 EAI_FAMILY ai_family not supported
      -3006 EAI_MEMORY out of memory
      -3007 EAI_NODATA no address
      -3008 EAI_NONAME unknown node or service
      -3009 EAI_OVERFLOW argument buffer overflow
      -3014 EAI_PROTOCOL resolved protocol is unknown
      -3010 EAI_SERVICE service not available for socket type
      -3011 EAI_SOCKTYPE socket type not supported
      -114 EALREADY connection already in progress
      -9 EBADF bad file descriptor
      -16 EBUSY resource busy or locked
      -125 ECANCELED operation canceled
      -4080 ECHARSET invalid Unicode character
      -103 ECONNABORTED software caused connection abort
      -111 ECONNREFUSED connection refused
      -104 ECONNRESET connection reset by peer
      -89 EDESTADDRREQ destination address required
      -17 EEXIST file already exists
      -14 EFAULT bad address in system call argument
      -27 EFBIG file too large
      -113 EHOSTUNREACH host is unreachable
      -4 EINTR interrupted system call
      -22 EINVAL invalid argument
      -5 EIO i/o error
      -106 EISCONN socket is already connected
      -21 EISDIR illegal operation on a directory
      -40 ELOOP too many symbolic links encountered
      -24 EMFILE too many open files
      -90 EMSGSIZE message too long
      -36 ENAMETOOLONG name too long
      -100 ENETDOWN network is down
      -101 ENETUNREACH network is unreachable
      -23 ENFILE file table overflow
      -105 ENOBUFS no buffer space available
      -19 ENODEV no such device
      -2 ENOENT no such file or directory
      -12 ENOMEM not enough memory
      -64 ENONET machine is not on the network
      -92 ENOPROTOOPT protocol not available
      -28 ENOSPC no space left on device
      -107 ENOTCONN socket is not connected
      -20 ENOTDIR not a directory
      -39 ENOTEMPTY directory not empty
      -88 ENOTSOCK socket operation on non-socket
      -95 ENOTSUP operation not supported on socket
      -75 EOVERFLOW value too large for defined data type
      -1 EPERM operation not permitted
      -32 EPIPE broken pipe
      -71 EPROTO protocol error
      -93 EPROTONOSUPPORT protocol not supported
      -91 EPROTOTYPE protocol wrong type for socket
      -34 ERANGE result too large
      -30 EROFS read-only file system
      -108 ESHUTDOWN cannot send after transport endpoint shutdown
      -29 ESPIPE invalid seek
      -3 ESRCH no such process
      -110 ETIMEDOUT connection timed out
      -26 ETXTBSY text file is busy
      -18 EXDEV cross-device link not permitted
      -4094 UNKNOWN unknown error
      -4095 EOF end of file
      -6 ENXIO no such device or address
      -31 EMLINK too many links
      -112 EHOSTDOWN host is down
      -121 EREMOTEIO remote I/O error
      -25 ENOTTY inappropriate ioctl for device
      -4028 EFTYPE inappropriate file type or format
      -84 EILSEQ illegal byte sequence
      -94 ESOCKTNOSUPPORT socket type not supported
      -61 ENODATA no data available
      -49 EUNATCH protocol driver not attached
      -8 ENOEXEC exec format error`).split("\n")) {
        const [number, name, ...text] = line.trim().split(" ");
        map.set(Number(number), [name, text.join(" ")]);
      }
      map.set(-38, ["ENOSYS", "function not implemented"]); // the reference's text
      return map;
    },
  };
}
