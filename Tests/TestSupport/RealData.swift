import Foundation

/// The payloads of `../shared/real-data`, if that folder is present.
package enum RealData {
    /// The folder, found by walking up from this file; nil if it is absent.
    package static let folder: String? = {
        var folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        while folder.path != "/" {
            let candidate = folder.appendingPathComponent("shared/real-data")
            if FileManager.default.fileExists(atPath: candidate.path) { return candidate.path }
            folder.deleteLastPathComponent()
        }
        print("SKIPPED: no shared/real-data beside the project, real payloads are not tested")
        return nil
    }()

    /// Whether tests with real payloads can run.
    package static var isPresent: Bool { folder != nil }

    /// The full path of one of its files.
    package static func path(_ name: String) throws -> String {
        guard let folder else { throw CocoaError(.fileNoSuchFile) }
        return "\(folder)/\(name)"
    }
}
