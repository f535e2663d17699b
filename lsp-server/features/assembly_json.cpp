#include "lsp-server/features/assembly_json.h"

#include "analysis/source/json.h"

namespace kernelskill::lsp {

using nlohmann::json;

namespace {

json placeJson(const engine::CodePlace& place) {
    return {{"file", place.file}, {"line", place.line}};
}

json orNull(const auto& value, const auto& toJson) {
    return value ? toJson(*value) : json(nullptr);
}

/// Classes that do not occur are left out.
json countsJson(const engine::ClassCounts& counts) {
    json result = json::object();
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] > 0)
            result[std::string(spelling(static_cast<engine::InstructionClass>(i)))] = counts[i];
    }
    return result;
}

json occupancyJson(const analysis::Occupancy& occupancy) {
    json limiters = json::array();
    for (const auto limiter : occupancy.limiters)
        limiters.push_back(spelling(limiter));
    return {{"percent", occupancy.percent},
            {"warps", occupancy.warps},
            {"blocks", occupancy.blocks},
            {"limiters", std::move(limiters)}};
}

json factsJson(const engine::KernelAssembly& assembly) {
    const auto& facts = assembly.facts;
    return {{"registers", facts.registers},
            {"spill_store_bytes", facts.spillStoreBytes},
            {"spill_load_bytes", facts.spillLoadBytes},
            {"stack_bytes", facts.stackBytes},
            {"shared_bytes", facts.staticSharedBytes},
            {"barriers", facts.barriers},
            {"occupancy", orNull(assembly.occupancy, occupancyJson)},
            {"notes", facts.notes}};
}

json instructionsJson(const engine::KernelAssembly& assembly) {
    json result = json::array();
    for (const auto& instruction : assembly.listing.instructions) {
        json places = json::array();
        for (const auto& place : instruction.places)
            places.push_back(placeJson(place));
        result.push_back({{"address", instruction.address},
                          {"text", instruction.text},
                          {"opcode", instruction.opcode},
                          {"class", spelling(instruction.kind)},
                          {"function", instruction.function},
                          {"shown", orNull(shownPlace(assembly, instruction), placeJson)},
                          {"places", std::move(places)}});
    }
    return result;
}

json linesJson(const engine::KernelAssembly& assembly) {
    json result = json::array();
    for (const auto& line : linesOf(assembly))
        result.push_back({{"file", line.place.file},
                          {"line", line.place.line},
                          {"counts", countsJson(line.counts)},
                          {"instructions", line.instructions}});
    return result;
}

json versionJson(const AssemblyVersion& version) {
    const auto& assembly = version.assembly;
    const auto& listing = assembly.listing;
    json files = json::array();
    for (std::size_t i = 0; i < listing.files.size(); ++i)
        files.push_back(
            {{"path", listing.files[i]}, {"user", assembly.isUsers.at(i) ? true : false}});
    json functions = json::array();
    for (const auto& function : listing.functions)
        functions.push_back({{"symbol", function.symbol},
                             {"name", engine::readableName(function.symbol)},
                             {"first", function.first}});
    json labels = json::array();
    for (const auto& label : listing.labels)
        labels.push_back({{"name", label.name}, {"before", label.before}});
    const auto counts = engine::countClasses(listing);
    return {{"label", version.label},
            {"file", version.program.file},
            {"kernel", assembly.kernel},
            {"symbol", assembly.facts.symbol},
            {"language", listing.language == engine::AssemblyLanguage::Ptx ? "ptx" : "sass"},
            {"architecture", assembly.facts.architecture},
            {"compiler", assembly.facts.compiler},
            {"disassembler",
             assembly.disassembler.empty() ? json(nullptr) : json(assembly.disassembler)},
            {"facts", factsJson(assembly)},
            {"total", engine::totalOf(counts)},
            {"counts", countsJson(counts)},
            {"files", std::move(files)},
            {"functions", std::move(functions)},
            {"labels", std::move(labels)},
            {"instructions", instructionsJson(assembly)},
            {"lines", linesJson(assembly)},
            {"notes", assembly.notes}};
}

json differenceJson(const engine::AssemblyDifference& difference) {
    json opcodes = json::array();
    for (const auto& change : difference.opcodes)
        opcodes.push_back(
            {{"opcode", change.opcode}, {"before", change.before}, {"after", change.after}});
    const auto index = [](std::uint32_t value) { return json(value); };
    json rows = json::array();
    for (const auto& row : difference.rows)
        rows.push_back({{"change", spelling(row.change)},
                        {"before", orNull(row.before, index)},
                        {"after", orNull(row.after, index)}});
    return {{"before", countsJson(difference.before)},
            {"after", countsJson(difference.after)},
            {"opcodes", std::move(opcodes)},
            {"rows", std::move(rows)}};
}

} // namespace

json assemblyJson(const AssemblyView& view) {
    json versions = json::array();
    for (const auto& version : view.versions)
        versions.push_back(versionJson(version));
    return {{"versions", std::move(versions)},
            {"difference", orNull(view.difference, differenceJson)}};
}

} // namespace kernelskill::lsp
