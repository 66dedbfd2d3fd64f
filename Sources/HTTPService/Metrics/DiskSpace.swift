internal import Foundation

/// The space of the file system with a folder, in bytes.
struct DiskSpace {
    let free: Int64
    let size: Int64

    /// The space around a folder; nil if it is not visible here.
    init?(of folder: String) {
        var found = statvfs()
        guard statvfs(folder, &found) == 0 else { return nil }
        free = Int64(found.f_bavail) * Int64(found.f_frsize)
        size = Int64(found.f_blocks) * Int64(found.f_frsize)
    }
}
