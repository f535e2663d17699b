#include "tests/engine/graph/archive_writer.h"

#include "engine/graph/archive.h"
#include "tests/paths.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <zlib.h>

namespace kernelskill::engine::graph::testing {
namespace {

void add(std::string& bytes, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i)
        bytes += i < sizeof value ? static_cast<char>(value >> (8 * i)) : '\0';
}

std::string deflated(const std::string& data) {
    z_stream stream{};
    if (deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::runtime_error("deflateInit2");
    std::string result(deflateBound(&stream, data.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    stream.avail_in = static_cast<uInt>(data.size());
    stream.next_out = reinterpret_cast<Bytef*>(result.data());
    stream.avail_out = static_cast<uInt>(result.size());
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        throw std::runtime_error("deflate");
    result.resize(stream.total_out);
    deflateEnd(&stream);
    return result;
}

/// Adds the fields that a local header and the directory share: flags to the extra field's size.
void addHeader(std::string& bytes, const WrittenEntry& entry, std::size_t stored) {
    add(bytes, entry.flags, 2);
    add(bytes, entry.method, 2);
    add(bytes, 0, 4);
    add(bytes,
        entry.claimedChecksum.value_or(
            static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(entry.data.data()),
                                             static_cast<uInt>(entry.data.size())))),
        4);
    add(bytes, stored, 4);
    add(bytes, entry.claimedBytes.value_or(static_cast<std::uint32_t>(entry.data.size())), 4);
    add(bytes, entry.name.size(), 2);
    add(bytes, 0, 2);
}

/// A string of a pickle.
std::string text(std::string_view value) {
    std::string bytes = "X";
    add(bytes, value.size(), 4);
    return bytes.append(value);
}

std::string shape(const std::vector<std::uint32_t>& sizes) {
    std::string bytes = "(";
    for (const std::uint32_t size : sizes) {
        bytes += 'J';
        add(bytes, size, 4);
    }
    return bytes + "t";
}

} // namespace

std::string writtenArchive(const std::vector<WrittenEntry>& entries) {
    std::string archive;
    std::string directory;
    for (const WrittenEntry& entry : entries) {
        const std::string stored = entry.isDeflated ? deflated(entry.data) : entry.data;
        const std::size_t offset = archive.size();
        archive += "PK\3\4";
        add(archive, 20, 2);
        addHeader(archive, entry, stored.size());
        archive += entry.name + stored;
        directory += "PK\1\2";
        add(directory, 20, 2);
        add(directory, 20, 2);
        addHeader(directory, entry, stored.size());
        add(directory, 0, 2 + 2 + 2 + 4);
        add(directory, offset, 4);
        directory += entry.name;
    }
    const std::size_t begin = archive.size();
    archive += directory + "PK\5\6";
    add(archive, 0, 4);
    add(archive, entries.size(), 2);
    add(archive, entries.size(), 2);
    add(archive, directory.size(), 4);
    add(archive, begin, 4);
    add(archive, 0, 2);
    return archive;
}

std::string writtenTensors(const std::vector<WrittenTensor>& tensors) {
    std::string pickle = "\x80\x02}(";
    std::vector<WrittenEntry> entries;
    for (const WrittenTensor& tensor : tensors) {
        const std::string key = std::to_string(entries.size());
        std::vector<std::uint32_t> sizes(tensor.sizes.begin(), tensor.sizes.end());
        std::vector<std::uint32_t> strides(sizes.size(), 1);
        for (std::size_t i = sizes.size(); i-- > 1;)
            strides[i - 1] = strides[i] * sizes[i];
        pickle += text(tensor.name) + "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") +
                  "ctorch\nFloatStorage\n" + text(key) + text("cpu") + "J";
        add(pickle, tensor.bytes.size() / sizeof(float), 4);
        pickle += "tQK";
        pickle += '\0';
        pickle += shape(sizes) + shape(strides) + "\x89" + "ccollections\nOrderedDict\n)RtR";
        entries.push_back({"archive/data/" + key, tensor.bytes});
    }
    entries.push_back({"archive/data.pkl", pickle + "u."});
    entries.push_back({"archive/byteorder", "little"});
    return writtenArchive(entries);
}

std::string bytesOf(const std::vector<float>& values) {
    std::string bytes(values.size() * sizeof(float), '\0');
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

std::string programPath(std::string_view name) {
    return std::string(paths::sourceFolder) + "/tests/engine/graph/programs/" + std::string(name);
}

std::string readWhole(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream)
        throw std::runtime_error("cannot be read: " + path);
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::string graphOf(std::string_view name) {
    auto archive = Archive::open(programPath(name));
    if (!archive)
        throw std::runtime_error(archive.error().describe());
    const auto entries = archive->entriesEndingWith("models/model.json");
    const auto data = archive->data(entries.at(0));
    if (!data)
        throw std::runtime_error(data.error().describe());
    return std::string(textOf(*data));
}

} // namespace kernelskill::engine::graph::testing
