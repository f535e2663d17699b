#include "engine/graph/archive.h"

#include "analysis/source/try.h"
#include "engine/storage/mapped_file.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <minizip/unzip.h>
#include <optional>
#include <utility>
#include <vector>
#include <zlib.h>

namespace kernelskill::engine::graph {
namespace {

constexpr std::uint64_t maxEntries = std::uint64_t{1} << 18;
constexpr std::size_t maxEntryName = 4096;
constexpr std::size_t maxExtra = 0x10000; ///< The directory gives its size 16 bits.
/// More than what deflate makes of a byte (1032).
constexpr std::uint64_t maxExpansion = 1040;

/// An archive in memory that minizip reads.
struct MemoryStream {
    std::span<const std::byte> bytes;
    std::uint64_t at = 0;
    bool isCutOff = false; ///< More was asked for than there is.
};

MemoryStream& streamOf(voidpf stream) {
    return *static_cast<MemoryStream*>(stream);
}

uLong readStream(voidpf /*opaque*/, voidpf stream, void* buffer, uLong size) {
    MemoryStream& memory = streamOf(stream);
    const std::uint64_t left = memory.bytes.size() - memory.at;
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left, size));
    if (count > 0)
        std::memcpy(buffer, memory.bytes.data() + memory.at, count);
    memory.at += count;
    memory.isCutOff |= count < size;
    return count;
}

long seekStream(voidpf /*opaque*/, voidpf stream, ZPOS64_T offset, int origin) {
    MemoryStream& memory = streamOf(stream);
    std::uint64_t base = 0;
    if (origin == ZLIB_FILEFUNC_SEEK_CUR)
        base = memory.at;
    else if (origin == ZLIB_FILEFUNC_SEEK_END)
        base = memory.bytes.size();
    // minizip's steps back are large numbers: their sum wraps around.
    const std::uint64_t place = base + offset;
    if (place > memory.bytes.size())
        return -1;
    memory.at = place;
    return 0;
}

/// Whether the archive's end record is there, which minizip passes over where there is a larger one
/// before it, of zip64.
bool hasEnd(std::span<const std::byte> bytes) {
    constexpr std::string_view signature = "PK\5\6";
    constexpr std::size_t recordBytes = 22;
    constexpr std::size_t maxComment = 0xffff;
    const auto last = bytes.last(std::min(bytes.size(), recordBytes + maxComment));
    const std::string_view text{reinterpret_cast<const char*>(last.data()), last.size()};
    const std::size_t found = text.rfind(signature);
    return found != std::string_view::npos && text.size() - found >= recordBytes;
}

struct CloseZip {
    void operator()(void* zip) const { unzClose(zip); }
};
using Zip = std::unique_ptr<void, CloseZip>;

/// Null if minizip finds no archive. `stream` has to outlive it.
Zip openZip(MemoryStream& stream) {
    zlib_filefunc64_def functions{};
    functions.zopen64_file = [](voidpf opaque, const void*, int) { return opaque; };
    functions.zread_file = readStream;
    functions.ztell64_file = [](voidpf, voidpf file) { return ZPOS64_T{streamOf(file).at}; };
    functions.zseek64_file = seekStream;
    functions.zclose_file = [](voidpf, voidpf) { return 0; };
    // Without it, minizip takes bytes behind the end for zeros.
    functions.zerror_file = [](voidpf, voidpf file) { return streamOf(file).isCutOff ? 1 : 0; };
    functions.opaque = &stream;
    return Zip(unzOpen2_64("", &functions));
}

/// Returns where the data of the current entry begins; nullopt if its local header does not agree
/// with the directory.
std::optional<std::uint64_t> dataOfCurrent(const Zip& zip) {
    // Raw: the entry is not decompressed.
    if (unzOpenCurrentFile2(zip.get(), nullptr, nullptr, 1) != UNZ_OK)
        return std::nullopt;
    const std::uint64_t offset = unzGetCurrentFileZStreamPos64(zip.get());
    unzCloseCurrentFile(zip.get());
    return offset;
}

std::uint64_t numberAt(std::span<const std::byte> bytes, std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
        value |= std::to_integer<std::uint64_t>(bytes[at + i]) << (8 * i);
    return value;
}

/// The numbers of an entry's extra field that 32 bits do not hold. minizip 1.1 reads these
/// where `long` has 32 bits only.
struct Zip64Numbers {
    std::optional<std::uint64_t> bytes;
    std::optional<std::uint64_t> storedBytes;
    std::optional<std::uint64_t> header; ///< The place of the entry's local header.
};

Zip64Numbers zip64NumbersOf(std::span<const std::byte> extra, const unz_file_info64& info) {
    constexpr std::uint64_t elsewhere = 0xffff'ffff;
    constexpr std::uint64_t zip64 = 1;
    constexpr std::size_t headSize = 4;
    constexpr std::size_t numberSize = 8;
    Zip64Numbers numbers;
    while (extra.size() >= headSize) {
        const std::size_t size =
            std::min<std::size_t>(numberAt(extra, 2, 2), extra.size() - headSize);
        auto field = extra.subspan(headSize, size);
        if (numberAt(extra, 0, 2) == zip64) {
            const auto take = [&]() -> std::optional<std::uint64_t> {
                if (field.size() < numberSize)
                    return std::nullopt;
                const std::uint64_t number = numberAt(field, 0, numberSize);
                field = field.subspan(numberSize);
                return number;
            };
            if (info.uncompressed_size == elsewhere)
                numbers.bytes = take();
            if (info.compressed_size == elsewhere)
                numbers.storedBytes = take();
            numbers.header = take();
            return numbers;
        }
        extra = extra.subspan(headSize + size);
    }
    return numbers;
}

/// Returns where the data behind a local header begins; nullopt if there is no such header.
std::optional<std::uint64_t> dataBehind(std::span<const std::byte> archive, std::uint64_t header) {
    constexpr std::size_t headerBytes = 30;
    constexpr std::uint64_t signature = 0x04034b50;
    if (header > archive.size() || archive.size() - header < headerBytes)
        return std::nullopt;
    const auto local = archive.subspan(static_cast<std::size_t>(header), headerBytes);
    if (numberAt(local, 0, 4) != signature)
        return std::nullopt;
    return header + headerBytes + numberAt(local, 26, 2) + numberAt(local, 28, 2);
}

std::unexpected<Error> badArchive(std::string what, std::string where) {
    return std::unexpected(Error{ErrorKind::InvalidInput, std::move(what), std::move(where),
                                 "export the program again with torch.export.save"});
}

} // namespace

Result<Archive> Archive::open(const std::filesystem::path& path) {
    auto file = MappedFile::open(path.string(), Links::Followed);
    if (!file)
        return std::unexpected(
            Error{ErrorKind::InvalidInput, file.error().what, path.string(), {}});
    const auto owner = std::make_shared<const MappedFile>(*std::move(file));
    return read({owner->bytes(), owner}, path.string());
}

Result<Archive> Archive::read(SharedBytes bytes, std::string name) {
    Archive archive;
    archive.archive_ = std::move(bytes);
    archive.name_ = std::move(name);
    const std::uint64_t size = archive.archive_.bytes.size();
    MemoryStream stream{archive.archive_.bytes};
    const Zip zip = openZip(stream);
    unz_global_info64 global{};
    if (!zip || !hasEnd(stream.bytes) || unzGetGlobalInfo64(zip.get(), &global) != UNZ_OK)
        return badArchive("this is no zip archive, or one that is cut off", archive.name_);
    if (global.number_entry > maxEntries)
        return badArchive("the archive has more than " + std::to_string(maxEntries) + " entries",
                          archive.name_);
    std::vector<std::byte> extra(maxExtra);
    int status = global.number_entry == 0 ? UNZ_END_OF_LIST_OF_FILE : unzGoToFirstFile(zip.get());
    for (; status == UNZ_OK; status = unzGoToNextFile(zip.get())) {
        unz_file_info64 info{};
        std::string entryName(maxEntryName, '\0');
        if (unzGetCurrentFileInfo64(zip.get(), &info, entryName.data(), entryName.size(),
                                    extra.data(), extra.size(), nullptr, 0) != UNZ_OK)
            return badArchive("the archive's directory is damaged", archive.name_);
        if (info.size_filename >= maxEntryName)
            return badArchive("an entry of the archive has a name of more than " +
                                  std::to_string(maxEntryName) + " bytes",
                              archive.name_);
        entryName.resize(info.size_filename);
        constexpr uLong encrypted = 1;
        if ((info.flag & encrypted) != 0)
            return archive.damaged(entryName, "the entry is encrypted");
        if (info.compression_method != 0 && info.compression_method != Z_DEFLATED)
            return archive.damaged(entryName,
                                   "the entry is compressed by another method than deflate");
        const Zip64Numbers large =
            zip64NumbersOf(std::span(extra).first(info.size_file_extra), info);
        const auto offset =
            large.header ? dataBehind(archive.archive_.bytes, *large.header) : dataOfCurrent(zip);
        if (!offset)
            return archive.damaged(entryName, "the entry's header is damaged");
        Entry entry;
        entry.offset = *offset;
        entry.storedBytes = large.storedBytes.value_or(info.compressed_size);
        entry.bytes = large.bytes.value_or(info.uncompressed_size);
        entry.checksum = static_cast<std::uint32_t>(info.crc);
        entry.isDeflated = info.compression_method == Z_DEFLATED;
        if (entry.offset > size || entry.storedBytes > size - entry.offset)
            return archive.damaged(entryName, "the entry reaches beyond the end of the archive");
        if (!entry.isDeflated && entry.storedBytes != entry.bytes)
            return archive.damaged(entryName, "the entry is stored with two sizes");
        if (!archive.entries_.emplace(entryName, entry).second)
            return archive.damaged(entryName, "the archive has two entries of this name");
    }
    if (status != UNZ_END_OF_LIST_OF_FILE)
        return badArchive("the archive's directory is damaged", archive.name_);
    return archive;
}

std::vector<std::string_view> Archive::entriesEndingWith(std::string_view end) const {
    std::vector<std::string_view> names;
    for (const auto& [name, entry] : entries_)
        if (name.ends_with(end))
            names.push_back(name);
    return names;
}

Result<SharedBytes> Archive::data(std::string_view entry) {
    KERNELSKILL_TRY(const Entry* const found, find(entry));
    return bytesOf(entry, *found);
}

Result<SharedBytes> Archive::checkedData(std::string_view entry, std::uint64_t maxBytes) {
    KERNELSKILL_TRY(const Entry* const found, find(entry));
    if (found->bytes > maxBytes)
        return damaged(entry, "the entry has " + std::to_string(found->bytes) +
                                  " bytes, of which at most " + std::to_string(maxBytes) +
                                  " are read");
    KERNELSKILL_TRY(SharedBytes data, bytesOf(entry, *found));
    const auto sum = crc32_z(0, reinterpret_cast<const Bytef*>(data.bytes.data()),
                             static_cast<z_size_t>(data.bytes.size()));
    if (sum != found->checksum)
        return damaged(entry, "the entry's checksum does not hold");
    return data;
}

Result<const Archive::Entry*> Archive::find(std::string_view entry) const {
    const auto found = entries_.find(entry);
    if (found == entries_.end())
        return damaged(entry, "the archive lacks this entry");
    return &found->second;
}

Result<SharedBytes> Archive::bytesOf(std::string_view name, const Entry& entry) {
    if (entry.isDeflated)
        return inflate(name, entry);
    return SharedBytes{archive_.bytes.subspan(static_cast<std::size_t>(entry.offset),
                                              static_cast<std::size_t>(entry.bytes)),
                       archive_.owner};
}

Result<SharedBytes> Archive::inflate(std::string_view name, const Entry& entry) {
    if (entry.bytes > maxInflatedBytes - inflatedBytes_)
        return damaged(name, "the deflated entries of the archive are larger than " +
                                 std::to_string(maxInflatedBytes >> 20) +
                                 " MiB, the most that is inflated");
    if (entry.bytes / maxExpansion > entry.storedBytes)
        return damaged(name, "the entry claims more bytes than can be inflated from it");
    auto inflated = std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(entry.bytes));
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return damaged(name, "the entry cannot be inflated");
    const auto source = archive_.bytes.subspan(static_cast<std::size_t>(entry.offset),
                                               static_cast<std::size_t>(entry.storedBytes));
    // Both are below 4 GiB: the bytes by their limit, and their source where it is read in parts.
    std::size_t read = 0;
    stream.next_out = reinterpret_cast<Bytef*>(inflated->data());
    stream.avail_out = static_cast<uInt>(inflated->size());
    int status = Z_OK;
    while (status == Z_OK) {
        if (stream.avail_in == 0) {
            constexpr std::size_t part = std::size_t{1} << 20;
            const auto next = source.subspan(read, std::min(part, source.size() - read));
            if (next.empty())
                break;
            stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(next.data()));
            stream.avail_in = static_cast<uInt>(next.size());
            read += next.size();
        }
        status = ::inflate(&stream, Z_NO_FLUSH);
    }
    const bool isWhole = status == Z_STREAM_END && stream.avail_out == 0;
    inflateEnd(&stream);
    if (!isWhole)
        return damaged(name, "the entry is damaged: it cannot be inflated to its size");
    inflatedBytes_ += entry.bytes;
    return SharedBytes{*inflated, inflated};
}

std::unexpected<Error> Archive::damaged(std::string_view entry, std::string what) const {
    return badArchive(std::move(what), name_ + ", entry " + std::string(entry));
}

Result<void> requireLittleEndian(Archive& archive, const std::string& root) {
    const std::string entry = root + "byteorder";
    constexpr std::uint64_t longest = 16;
    if (!archive.holds(entry))
        return {};
    KERNELSKILL_TRY(const SharedBytes order, archive.checkedData(entry, longest));
    if (textOf(order) != "little")
        return std::unexpected(Error{ErrorKind::InvalidInput, "its numbers are not little-endian",
                                     archive.name() + ", entry " + entry,
                                     "export the program on a little-endian machine"});
    return {};
}

std::string_view textOf(const SharedBytes& bytes) {
    return {reinterpret_cast<const char*>(bytes.bytes.data()), bytes.bytes.size()};
}

} // namespace kernelskill::engine::graph
