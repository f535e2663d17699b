/// Small cubins for tests: what cubinSymbols() reads of them, and no code.
#pragma once

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::testing {

struct CubinImage {
    struct Kernel {
        std::string name;
        std::vector<std::string> calls; ///< Undefined functions.
    };
    struct Variable {
        std::string name;
        std::uint64_t bytes = 0;
        bool isManaged = false;
    };
    std::vector<Kernel> kernels;
    std::vector<Variable> variables;
};

/// The table of sections is last.
inline std::string imageOf(const CubinImage& image) {
    constexpr unsigned char kernelFlag = 0x10;
    constexpr std::uint16_t global = 4;
    const std::vector<std::string> names{"", ".shstrtab", ".symtab", ".nv.callgraph", ".nv.global"};
    std::string texts(1, '\0');
    const auto text = [&](const std::string& value) {
        const auto at = static_cast<Elf64_Word>(texts.size());
        texts += value + '\0';
        return at;
    };
    std::string symbols(sizeof(Elf64_Sym), '\0');
    std::string calls;
    std::uint32_t count = 1;
    const auto add = [&](const std::string& name, unsigned char type, unsigned char other,
                         std::uint16_t section, std::uint64_t bytes) {
        Elf64_Sym symbol{};
        symbol.st_name = text(name);
        symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, type);
        symbol.st_other = other;
        symbol.st_shndx = section;
        symbol.st_size = bytes;
        symbols.append(reinterpret_cast<const char*>(&symbol), sizeof symbol);
        return count++;
    };
    const auto addCall = [&](std::uint32_t caller, std::uint32_t called) {
        calls.append(reinterpret_cast<const char*>(&caller), sizeof caller);
        calls.append(reinterpret_cast<const char*>(&called), sizeof called);
    };
    std::map<std::string, std::uint32_t> undefined;
    for (const auto& kernel : image.kernels) {
        const auto caller = add(kernel.name, STT_FUNC, kernelFlag, global, 0);
        for (const std::string& called : kernel.calls) {
            const auto known = undefined.find(called);
            const auto callee = known != undefined.end()
                                    ? known->second
                                    : undefined[called] = add(called, STT_FUNC, 0, SHN_UNDEF, 0);
            addCall(caller, callee);
        }
    }
    for (const auto& variable : image.variables)
        add(variable.name, STT_OBJECT, variable.isManaged ? 0x04 : 0, global, variable.bytes);

    std::vector<Elf64_Shdr> sections(names.size());
    for (std::size_t i = 0; i < names.size(); ++i)
        sections[i].sh_name = text(names[i]);
    std::string bytes(sizeof(Elf64_Ehdr), '\0');
    const auto place = [&](Elf64_Shdr& section, Elf64_Word type, const std::string& data) {
        bytes.resize((bytes.size() + 7) / 8 * 8);
        section.sh_type = type;
        section.sh_offset = bytes.size();
        section.sh_size = data.size();
        bytes += data;
    };
    place(sections[1], SHT_STRTAB, texts);
    place(sections[2], SHT_SYMTAB, symbols);
    sections[2].sh_link = 1;
    place(sections[3], SHT_PROGBITS, calls);
    place(sections[4], SHT_NOBITS, "");
    bytes.resize((bytes.size() + 7) / 8 * 8);
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_shoff = bytes.size();
    header.e_shnum = static_cast<Elf64_Half>(sections.size());
    header.e_shstrndx = 1;
    std::memcpy(bytes.data(), &header, sizeof header);
    bytes.append(reinterpret_cast<const char*>(sections.data()),
                 sections.size() * sizeof(Elf64_Shdr));
    return bytes;
}

} // namespace kernelskill::testing
