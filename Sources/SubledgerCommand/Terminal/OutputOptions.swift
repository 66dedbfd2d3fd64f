import AppStore
import ArgumentParser
import EventLog
import Events
import Foundation
import Postgres
import Subledger

/// How results are printed.
struct OutputOptions: ParsableArguments {
    @Flag(name: .long, help: "Print one JSON document.")
    var json = false

    @Flag(name: .shortAndLong, help: "No progress on stderr.")
    var quiet = false
}
