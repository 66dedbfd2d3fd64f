// `import Subledger` alone is enough for an app: what its declarations speak of comes with it.
@_exported public import AppStore
@_exported public import Catalog
@_exported public import EventLog
@_exported public import Events
@_exported public import Projections
@_exported public import Projector
