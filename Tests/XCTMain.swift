// The program that holds all tests. With a file of this name, SwiftPM does not search the index for
// tests of XCTest, so no build needs an index.
import Testing

@main
struct TestProgram {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
