// Examples of the documentation as a program: `Example take PAYLOADS ROOT`, `Example serve ROOT`.
// It depends on the products alone, and `make acceptance` builds it in a package of its own, too.

let arguments = CommandLine.arguments
if arguments[1] == "take" {
    try await take(payloads: arguments[2], root: arguments[3])
} else {
    try await serve(root: arguments[2])
}
