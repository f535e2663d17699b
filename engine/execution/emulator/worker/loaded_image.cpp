#include "engine/execution/emulator/worker/loaded_image.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <iterator>
#include <link.h>
#include <memory>
#include <span>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>

extern "C" void*
__tls_get_addr(std::size_t* moduleAndOffset); // NOLINT(bugprone-reserved-identifier)

namespace kernelskill::engine::emulator {

namespace {

struct Search {
    std::uint64_t inside = 0; ///< An address inside the wanted object.
    std::uint64_t base = 0;
    std::vector<AddressRange> segments;
    std::size_t tlsModule = 0;
    std::uint64_t tlsBytes = 0;
};

int visitObject(dl_phdr_info* info, std::size_t /*size*/, void* data) {
    auto& search = *static_cast<Search*>(data);
    std::vector<AddressRange> segments;
    std::uint64_t tlsBytes = 0;
    bool matches = false;
    for (const ElfW(Phdr) & header : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
        if (header.p_type == PT_LOAD) {
            segments.push_back({info->dlpi_addr + header.p_vaddr, header.p_memsz});
            matches |= segments.back().contains(search.inside);
        } else if (header.p_type == PT_TLS) {
            tlsBytes = header.p_memsz;
        }
    }
    if (!matches)
        return 0;
    search.base = info->dlpi_addr;
    search.segments = std::move(segments);
    search.tlsModule = info->dlpi_tls_modid;
    search.tlsBytes = tlsBytes;
    return 1;
}

/// For example "transpose(float*, int)::tile" -> "tile".
std::string lastComponent(const char* mangled) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> demangled{
        abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free};
    const std::string_view name = status == 0 ? demangled.get() : mangled;
    const std::size_t colon = name.rfind("::");
    return std::string(colon == std::string_view::npos ? name : name.substr(colon + 2));
}

/// Bounds-checked views of a mapped file: the object is as untrusted as its code.
class ObjectFile {
public:
    ObjectFile(const std::byte* data, std::size_t size) : data_(data), size_(size) {}

    template <typename T>
    [[nodiscard]] const T* at(std::uint64_t offset, std::uint64_t count = 1) const {
        if (offset > size_ || count > (size_ - offset) / sizeof(T) || offset % alignof(T) != 0)
            return nullptr;
        return reinterpret_cast<const T*>(data_ + offset);
    }
    [[nodiscard]] const char* stringAt(std::uint64_t offset) const {
        if (offset >= size_ || std::memchr(data_ + offset, 0, size_ - offset) == nullptr)
            return nullptr;
        return reinterpret_cast<const char*>(data_ + offset);
    }

private:
    const std::byte* data_;
    std::size_t size_;
};

std::vector<SharedVariable> sharedVariablesOf(const ObjectFile& file) {
    std::vector<SharedVariable> variables;
    const auto* header = file.at<Elf64_Ehdr>(0);
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return variables;
    const auto* sections = file.at<Elf64_Shdr>(header->e_shoff, header->e_shnum);
    if (sections == nullptr)
        return variables;
    for (const Elf64_Shdr& section : std::span(sections, header->e_shnum)) {
        if (section.sh_type != SHT_SYMTAB || section.sh_link >= header->e_shnum)
            continue;
        const std::uint64_t count = section.sh_size / sizeof(Elf64_Sym);
        const auto* symbols = file.at<Elf64_Sym>(section.sh_offset, count);
        if (symbols == nullptr)
            continue;
        const std::uint64_t names = sections[section.sh_link].sh_offset;
        for (const Elf64_Sym& symbol : std::span(symbols, count)) {
            const char* name = file.stringAt(names + symbol.st_name);
            if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS && name != nullptr)
                variables.push_back({lastComponent(name), symbol.st_value, symbol.st_size,
                                     std::string_view(name).starts_with("_ZGV")});
        }
    }
    return variables;
}

std::vector<Arithmetic> arithmeticOf(const ArithmeticTable& table, std::uint64_t base) {
    const auto place = reinterpret_cast<std::uint64_t>(&table) - base;
    const auto* const entries = reinterpret_cast<const ArithmeticEntry*>(&table + 1);
    constexpr auto first = static_cast<std::uint32_t>(firstArithmetic);
    std::vector<Arithmetic> result;
    for (const ArithmeticEntry& entry : std::span(entries, table.entryCount)) {
        if (entry.counter >= counterCount - first)
            continue;
        // A hook identifies its block by its return address minus one.
        result.push_back({place + static_cast<Site>(std::int64_t{entry.block}) - 1,
                          place + static_cast<Site>(std::int64_t{entry.instruction}),
                          static_cast<Counter>(first + entry.counter), entry.count});
    }
    return result;
}

} // namespace

Result<LoadedImage> LoadedImage::load(const std::string& path) {
    const auto failure = [&](const char* why) {
        return std::unexpected(Error{ErrorKind::Failed,
                                     std::string("cannot load the compiled kernel: ") +
                                         (why != nullptr ? why : "unknown"),
                                     "", "remove the emulator's cache and try again"});
    };
    void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr)
        return failure(dlerror());
    LoadedImage image;
    image.entry_ = reinterpret_cast<Entry>(dlsym(handle, "ks_entry"));
    if (image.entry_ == nullptr)
        return failure("it has no ks_entry");
    Search search;
    search.inside = reinterpret_cast<std::uint64_t>(image.entry_);
    if (dl_iterate_phdr(visitObject, &search) == 0)
        return failure("its segments cannot be found");
    image.base_ = search.base;
    image.segments_ = std::move(search.segments);
    if (search.tlsBytes != 0) {
        std::array<std::size_t, 2> index{search.tlsModule, 0};
        image.staticShared_ = {reinterpret_cast<std::uint64_t>(__tls_get_addr(index.data())),
                               search.tlsBytes};
    }
    if (const auto* table = static_cast<const KsImageTable*>(dlsym(handle, "ks_image"))) {
        if (table->version != KS_IMAGE_VERSION)
            return failure("it was compiled by another version");
        image.globals_.assign(table->globals, table->globals + table->globalCount);
        image.parameters_.assign(table->parameters, table->parameters + table->parameterCount);
    }
    if (const auto* table = static_cast<const ArithmeticTable*>(dlsym(handle, "ks_arithmetic"))) {
        if (table->version != arithmeticVersion)
            return failure("it was compiled by another version");
        image.arithmetic_ = arithmeticOf(*table, image.base_);
    }
    if (const auto* table = static_cast<const ConditionTable*>(dlsym(handle, "ks_conditions"))) {
        if (table->version != conditionVersion || table->outcomeCount > maxOutcomes)
            return failure("it was compiled by another version");
        image.conditions_ = table;
    }
    return image;
}

Outcomes LoadedImage::conditions() const {
    Outcomes result;
    if (conditions_ == nullptr)
        return result;
    const auto* const numbers = reinterpret_cast<const std::uint32_t*>(conditions_ + 1);
    const auto* const seen =
        reinterpret_cast<const volatile std::uint8_t*>(numbers + conditions_->outcomeCount);
    for (const std::uint32_t number : std::span(numbers, conditions_->outcomeCount)) {
        if (number >= maxOutcomes)
            continue;
        if (result.size() <= number / 2)
            result.resize(number / 2 + 1);
        ConditionOutcomes& condition = result[number / 2];
        (number % 2 == 0 ? condition.canBeTrue : condition.canBeFalse) = true;
        (number % 2 == 0 ? condition.wasTrue : condition.wasFalse) |= seen[number] != 0;
    }
    return result;
}

void LoadedImage::addArithmetic(std::map<Site, Counters>& sites) const {
    std::map<Site, std::uint64_t> lanes;
    for (const auto& [site, counters] : sites)
        lanes.emplace(site, counters[Counter::ThreadEvents]);
    for (const Arithmetic& use : arithmetic_) {
        const auto ran = lanes.find(use.block);
        if (ran != lanes.end() && ran->second != 0)
            sites[use.instruction][use.counter] += ran->second * use.count;
    }
}

bool LoadedImage::contains(std::uint64_t address) const {
    return std::any_of(segments_.begin(), segments_.end(),
                       [&](const AddressRange& segment) { return segment.contains(address); });
}

const SharedVariable* LoadedImage::sharedVariableNear(std::uint64_t offset) const {
    const auto distance = [offset](const SharedVariable& variable) {
        if (offset < variable.offset)
            return variable.offset - offset;
        const std::uint64_t behind = offset - variable.offset;
        return behind < variable.bytes ? 0 : behind - variable.bytes + 1;
    };
    const SharedVariable* nearest = nullptr;
    for (const SharedVariable& variable : sharedVariables_) {
        if (!variable.isGuard && (nearest == nullptr || distance(variable) < distance(*nearest)))
            nearest = &variable;
    }
    return nearest;
}

std::vector<AddressRange> LoadedImage::sharedRanges() const {
    if (sharedVariables_.empty())
        return {staticShared_};
    std::vector<AddressRange> ranges;
    for (const SharedVariable& variable : sharedVariables_)
        ranges.push_back({staticShared_.low + variable.offset, variable.bytes});
    return ranges;
}

std::vector<SharedVariable> LoadedImage::sharedGuards() const {
    std::vector<SharedVariable> guards;
    std::copy_if(sharedVariables_.begin(), sharedVariables_.end(), std::back_inserter(guards),
                 [](const SharedVariable& variable) { return variable.isGuard; });
    return guards;
}

std::string LoadedImage::globalNameAt(std::uint64_t address) const {
    for (const KsGlobal& global : globals_) {
        if (address - reinterpret_cast<std::uint64_t>(global.address) < global.bytes)
            return global.name;
    }
    return "";
}

std::vector<SharedVariable> readSharedVariables(int descriptor) {
    struct stat status{};
    if (fstat(descriptor, &status) != 0 || status.st_size <= 0)
        return {};
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (memory == MAP_FAILED)
        return {};
    std::vector<SharedVariable> variables =
        sharedVariablesOf(ObjectFile{static_cast<const std::byte*>(memory), size});
    munmap(memory, size);
    return variables;
}

} // namespace kernelskill::engine::emulator
