/// The zip archives of PyTorch: of torch.export.save, and those of torch.save inside of them.
///
/// Nothing of an archive is used as a file name, and nothing is unpacked to a disk.
#pragma once

#include "analysis/source/error.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine::graph {

/// Bytes, and what keeps them.
struct SharedBytes {
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
};

class Archive {
public:
    /// The max memory that a deflated entry, and all of them together, may take.
    static constexpr std::uint64_t maxInflatedBytes = std::uint64_t{1} << 30;

    /// Maps a regular file. InvalidInput, with the path, if it is none or no sound archive: cut
    /// off, encrypted, with an entry outside of the file or two of one name.
    [[nodiscard]] static Result<Archive> open(const std::filesystem::path& path);

    /// An archive in memory; `name` is for messages.
    [[nodiscard]] static Result<Archive> read(SharedBytes bytes, std::string name);

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] bool holds(std::string_view entry) const { return entries_.contains(entry); }

    /// The names of entries that end with `end`, in order.
    [[nodiscard]] std::vector<std::string_view> entriesEndingWith(std::string_view end) const;

    /// The bytes of an entry: of the file itself if it is stored, whose checksum is not looked at,
    /// else inflated. InvalidInput if there is no such entry or it is damaged.
    [[nodiscard]] Result<SharedBytes> data(std::string_view entry);

    /// The same for an entry that is read at once: its checksum has to hold, and it has no more
    /// than `maxBytes`.
    [[nodiscard]] Result<SharedBytes> checkedData(std::string_view entry, std::uint64_t maxBytes);

private:
    struct Entry {
        std::uint64_t offset = 0; ///< The place of its data in the archive.
        std::uint64_t storedBytes = 0;
        std::uint64_t bytes = 0;
        std::uint32_t checksum = 0;
        bool isDeflated = false;
    };

    [[nodiscard]] Result<const Entry*> find(std::string_view entry) const;
    [[nodiscard]] Result<SharedBytes> bytesOf(std::string_view name, const Entry& entry);
    [[nodiscard]] Result<SharedBytes> inflate(std::string_view name, const Entry& entry);
    [[nodiscard]] std::unexpected<Error> damaged(std::string_view entry, std::string what) const;

    SharedBytes archive_;
    std::string name_;
    std::map<std::string, Entry, std::less<>> entries_;
    std::uint64_t inflatedBytes_ = 0;
};

/// InvalidInput if the archive's entry `byteorder` below `root` ("archive/") says that its numbers
/// are big-endian.
[[nodiscard]] Result<void> requireLittleEndian(Archive& archive, const std::string& root);

/// The bytes as text.
[[nodiscard]] std::string_view textOf(const SharedBytes& bytes);

} // namespace kernelskill::engine::graph
