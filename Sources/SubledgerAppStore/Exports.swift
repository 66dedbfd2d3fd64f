// What `import SubledgerAppStore` brings of other modules, beside what `Subledger` brings.
@_exported public import struct EventLog.PollHolder
