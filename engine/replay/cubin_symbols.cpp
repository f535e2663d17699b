#include "engine/replay/cubin_symbols.h"

#include <cstring>
#include <elf.h>
#include <optional>
#include <string_view>
#include <utility>

namespace kernelskill::engine {
namespace {

constexpr unsigned char kernelFlag = 0x10;  // In st_other: a kernel, not a function of the device.
constexpr unsigned char managedFlag = 0x04; // In st_other.
constexpr std::string_view callGraph = ".nv.callgraph";

/// Bounds-checked reading of an image whose address may have any alignment.
class Image {
public:
    explicit Image(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <typename T>
    [[nodiscard]] std::optional<T> at(std::uint64_t offset) const {
        if (offset > bytes_.size() || sizeof(T) > bytes_.size() - offset)
            return std::nullopt;
        T value;
        std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }
    /// Element `index` of a table; nullopt also if the offset has no 64-bit value.
    template <typename T>
    [[nodiscard]] std::optional<T> at(std::uint64_t table, std::uint64_t index) const {
        if (table > bytes_.size() || index >= bytes_.size() / sizeof(T))
            return std::nullopt;
        return at<T>(table + index * sizeof(T));
    }
    [[nodiscard]] std::string textAt(std::uint64_t table, std::uint64_t offset) const {
        if (table >= bytes_.size() || offset >= bytes_.size() - table)
            return {};
        const auto* begin = reinterpret_cast<const char*>(bytes_.data()) + table + offset;
        const std::size_t room = bytes_.size() - table - offset;
        const void* end = std::memchr(begin, 0, room);
        return end == nullptr ? std::string() : std::string(begin, static_cast<const char*>(end));
    }

private:
    std::span<const std::byte> bytes_;
};

bool holdsVariables(std::string_view section) {
    return section == ".nv.global" || section == ".nv.global.init" || section == ".nv.constant3";
}

class SymbolReader {
public:
    SymbolReader(const Image& image, const Elf64_Ehdr& header) : image_(image), header_(header) {}

    CubinSymbols read() {
        for (std::uint64_t i = 0; i < header_.e_shnum; ++i) {
            const auto section = sectionAt(i);
            if (section && section->sh_type == SHT_SYMTAB) {
                readSymbols(*section); // A cubin has one, and tables of others may overlap.
                break;
            }
        }
        for (std::uint64_t i = 0; i < header_.e_shnum; ++i) {
            const auto section = sectionAt(i);
            if (section && nameOf(*section) == callGraph) {
                readCalls(*section);
                break;
            }
        }
        for (const auto& [index, name] : kernels_)
            addReached(index, symbols_.kernels[name]);
        return std::move(symbols_);
    }

private:
    [[nodiscard]] std::optional<Elf64_Shdr> sectionAt(std::uint64_t index) const {
        return image_.at<Elf64_Shdr>(header_.e_shoff, index);
    }
    [[nodiscard]] std::string nameOf(const Elf64_Shdr& section) const {
        const auto names = sectionAt(header_.e_shstrndx);
        return names ? image_.textAt(names->sh_offset, section.sh_name) : std::string();
    }

    void readSymbols(const Elf64_Shdr& table) {
        const auto names = sectionAt(table.sh_link);
        if (!names)
            return;
        for (std::uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Sym); ++i) {
            const auto symbol = image_.at<Elf64_Sym>(table.sh_offset, i);
            if (!symbol)
                return;
            const int type = ELF64_ST_TYPE(symbol->st_info);
            if (type != STT_OBJECT && type != STT_FUNC)
                continue;
            std::string name = image_.textAt(names->sh_offset, symbol->st_name);
            const auto section =
                symbol->st_shndx == SHN_UNDEF ? std::nullopt : sectionAt(symbol->st_shndx);
            if (type == STT_OBJECT && section && holdsVariables(nameOf(*section)))
                symbols_.variables.push_back(
                    {std::move(name), symbol->st_size, (symbol->st_other & managedFlag) != 0});
            else if (type == STT_FUNC && symbol->st_shndx == SHN_UNDEF)
                undefined_.emplace(i, std::move(name));
            else if (type == STT_FUNC && (symbol->st_other & kernelFlag) != 0)
                kernels_.emplace(i, std::move(name));
        }
    }

    /// Pairs of indices of symbols: who calls whom.
    void readCalls(const Elf64_Shdr& section) {
        for (std::uint64_t i = 0; i < section.sh_size / 8; ++i) {
            const auto caller = image_.at<std::uint32_t>(section.sh_offset, 2 * i);
            const auto called = image_.at<std::uint32_t>(section.sh_offset, 2 * i + 1);
            if (!caller || !called)
                return;
            calls_[*caller].insert(*called);
        }
    }

    void addReached(std::uint64_t kernel, std::set<std::string>& names) const {
        std::set<std::uint64_t> seen{kernel};
        std::vector<std::uint64_t> open{kernel};
        while (!open.empty()) {
            const auto at = open.back();
            open.pop_back();
            if (const auto name = undefined_.find(at); name != undefined_.end())
                names.insert(name->second);
            const auto called = calls_.find(at);
            if (called == calls_.end())
                continue;
            for (const std::uint64_t next : called->second) {
                if (seen.insert(next).second)
                    open.push_back(next);
            }
        }
    }

    const Image& image_;
    const Elf64_Ehdr& header_;
    CubinSymbols symbols_;
    std::map<std::uint64_t, std::string> kernels_;   ///< The key is the symbol's number.
    std::map<std::uint64_t, std::string> undefined_; ///< The key is the symbol's number.
    std::map<std::uint64_t, std::set<std::uint64_t>> calls_;
};

} // namespace

Result<CubinSymbols> cubinSymbols(std::span<const std::byte> image) {
    const Image bytes(image);
    const auto header = bytes.at<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64)
        return std::unexpected(Error{ErrorKind::InvalidInput, "it is no cubin", {}, {}});
    return SymbolReader(bytes, *header).read();
}

} // namespace kernelskill::engine
