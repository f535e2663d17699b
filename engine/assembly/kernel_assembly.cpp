#include "engine/assembly/kernel_assembly.h"

#include "engine/assembly/ptx_reader.h"
#include "engine/assembly/sass_reader.h"
#include "engine/static_facts/device_code.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

namespace kernelskill::engine {
namespace {

Result<Listing> listingOf(const DeviceCode& code, const std::optional<Disassembler>& disassembler,
                          const StaticFactsOptions& options, std::stop_token stop) {
    if (!disassembler)
        return readPtx(code.ptx, code.facts.symbol);
    auto text = disassemble(*disassembler, code.cubin, options.time, std::move(stop));
    if (!text)
        return std::unexpected(std::move(text.error()));
    return readSass(*text, code.facts.symbol);
}

std::vector<bool> areUsers(const std::vector<std::string>& files,
                           const analysis::FileModel& model) {
    std::vector<bool> result;
    for (const auto& file : files) {
        const auto path = std::filesystem::path(file).lexically_normal();
        result.push_back(std::ranges::any_of(model.userFiles, [&](const std::string& user) {
            return std::filesystem::path(user).lexically_normal() == path;
        }));
    }
    return result;
}

} // namespace

Result<KernelAssembly> kernelAssembly(KernelRef kernel, const LaunchSpec* launch,
                                      const AssemblyRequest& request,
                                      const StaticFactsOptions& options, std::stop_token stop) {
    if (!options.toolkit)
        return std::unexpected(
            Error{ErrorKind::Missing,
                  "no CUDA toolkit was found; its compiler is needed to make PTX and SASS",
                  {},
                  "install the CUDA toolkit (NVRTC, its run-time compiler, is enough for PTX), or "
                  "set the CUDA path"});
    std::optional<Disassembler> disassembler;
    if (request.language != AssemblyLanguage::Ptx) {
        auto found = findDisassembler(options.toolkit);
        if (found)
            disassembler = std::move(*found);
        else if (request.language)
            return std::unexpected(std::move(found.error()));
    }
    const auto code = deviceCode(
        kernel, launch != nullptr ? launch->templateArguments : std::vector<std::string>{},
        request.architecture, options, stop);
    if (!code)
        return std::unexpected(code.error());
    auto listing = listingOf(*code, disassembler, options, stop);
    if (!listing)
        return std::unexpected(std::move(listing.error()));

    KernelAssembly assembly;
    assembly.kernel = kernel.kernel.qualifiedName;
    assembly.facts = code->facts;
    if (launch != nullptr) {
        if (auto occupancy = occupancyOf(code->facts, *launch))
            assembly.occupancy = std::move(*occupancy);
    }
    if (disassembler)
        assembly.disassembler = disassembler->program.filename().string();
    assembly.isUsers = areUsers(listing->files, kernel.file());
    assembly.listing = std::move(*listing);
    if (!disassembler && !request.language)
        assembly.notes.emplace_back(
            "PTX, because there is no nvdisasm here to show SASS: registers are named, not yet "
            "allocated, and the assembler still reorders and merges");
    if (disassembler && !disassembler->tellsLines)
        assembly.notes.emplace_back("cuobjdump prints no source lines; nvdisasm does");
    return assembly;
}

std::optional<CodePlace> shownPlace(const KernelAssembly& assembly,
                                    const AssemblyInstruction& instruction) {
    if (instruction.places.empty())
        return std::nullopt;
    const auto users = std::ranges::find_if(instruction.places, [&](const CodePlace& place) {
        return assembly.isUsers.at(place.file);
    });
    return users == instruction.places.end() ? instruction.places.front() : *users;
}

std::vector<LineInstructions> linesOf(const KernelAssembly& assembly) {
    std::map<CodePlace, LineInstructions> lines;
    const auto& instructions = assembly.listing.instructions;
    for (std::uint32_t i = 0; i < instructions.size(); ++i) {
        const auto place = shownPlace(assembly, instructions[i]);
        if (!place)
            continue;
        auto& line = lines[*place];
        line.place = *place;
        ++line.counts[static_cast<std::size_t>(instructions[i].kind)];
        line.instructions.push_back(i);
    }
    std::vector<LineInstructions> result;
    for (auto& [place, line] : lines)
        result.push_back(std::move(line));
    return result;
}

} // namespace kernelskill::engine
