// `import Subledger` is enough for an app: the modules that its declarations use are re-exported.
@_exported public import AppStore
@_exported public import Catalog
@_exported public import EventLog
@_exported public import Events
@_exported public import Projections
@_exported public import Projector
