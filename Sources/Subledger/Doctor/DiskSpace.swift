internal import Foundation

/// The space of the file system with a folder, in bytes.
package struct DiskSpace {
    package let freeBytes: Int64
    package let bytes: Int64

    /// The space around a folder; nil if it is not visible here.
    package init?(of folder: String) {
        var found = statvfs()
        guard statvfs(folder, &found) == 0 else { return nil }
        freeBytes = Int64(found.f_bavail) * Int64(found.f_frsize)
        bytes = Int64(found.f_blocks) * Int64(found.f_frsize)
    }

    /// Below this, PostgreSQL may stop at any checkpoint: WAL alone takes 1 GiB by default.
    private static let wrongBelowBytes: Int64 = 1 << 30
    /// Below this share, there is little time left to act.
    private static let warningBelowShare = 0.1

    /// Whether the space is sufficient.
    var check: DoctorCheck {
        let words = "\(byteWords(freeBytes)) of \(byteWords(bytes)) are free"
        let action = "add room: a server whose disk is full takes no appends"
        if freeBytes < DiskSpace.wrongBelowBytes { return .wrong("disk", words, action) }
        if Double(freeBytes) < Double(bytes) * DiskSpace.warningBelowShare {
            return .warning("disk", words, action)
        }
        return .ok("disk", words)
    }
}
