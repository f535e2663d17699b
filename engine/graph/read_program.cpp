#include "engine/graph/read_program.h"

#include "analysis/source/try.h"
#include "engine/graph/graph_json.h"
#include "engine/graph/tensor_payload.h"
#include "engine/graph/type_text.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace kernelskill::engine::graph {
namespace {

constexpr std::uint64_t maxGraphBytes = std::uint64_t{64} << 20;
constexpr std::string_view oldGraph = "serialized_exported_program.json";
constexpr std::string_view modelsFolder = "models/";
constexpr std::string_view jsonEnd = ".json";

struct ProgramEntries {
    std::string graph;
    std::string root; ///< "mlp/"; empty if entries have no folder in common.
    PayloadNames payload;
};

std::unexpected<Error> refused(const Archive& archive, std::string what, std::string remedy) {
    return std::unexpected(
        Error{ErrorKind::InvalidInput, std::move(what), archive.name(), std::move(remedy)});
}

/// torch 2.6 and 2.7.
ProgramEntries oldEntries() {
    return {.graph = std::string(oldGraph),
            .root = {},
            .payload = {.configs = {},
                        .saved = {"serialized_state_dict.pt", "serialized_constants.pt"},
                        .sampleInputs = "serialized_example_inputs.pt"}};
}

/// "<root>models/<name>.json" of torch 2.8 and later.
ProgramEntries newEntries(std::string_view graph) {
    const std::size_t folder = graph.rfind(modelsFolder);
    const std::string root(graph.substr(0, folder));
    const std::size_t begin = folder + modelsFolder.size();
    const std::string name(graph.substr(begin, graph.size() - begin - jsonEnd.size()));
    const std::string weights = root + "data/weights/";
    const std::string constants = root + "data/constants/";
    return {.graph = std::string(graph),
            .root = root,
            .payload = {.configs = {{{weights + name + "_weights_config.json",
                                      weights + name + "_model_param_config.json"},
                                     weights},
                                    {{constants + name + "_constants_config.json",
                                      constants + name + "_model_constants_config.json"},
                                     constants}},
                        // torch 2.8; constants.pt is what archives without weights have.
                        .saved = {weights + name + ".pt", constants + name + ".pt",
                                  constants + "constants.pt"},
                        .sampleInputs = root + "data/sample_inputs/" + name + ".pt"}};
}

/// Whether `entry` is "models/<name>.json", in one folder at most.
bool isModel(std::string_view entry) {
    const std::size_t folder = entry.rfind(modelsFolder);
    return folder != std::string_view::npos && (folder == 0 || entry[folder - 1] == '/') &&
           std::ranges::count(entry.substr(0, folder), '/') <= 1 &&
           entry.find('/', folder + modelsFolder.size()) == std::string_view::npos;
}

Result<ProgramEntries> findEntries(const Archive& archive) {
    if (archive.holds(oldGraph))
        return oldEntries();
    std::vector<std::string_view> models = archive.entriesEndingWith(jsonEnd);
    std::erase_if(models, [](std::string_view entry) { return !isModel(entry); });
    if (models.empty())
        return refused(archive, "the archive holds no program of torch.export",
                       "write it with torch.export.save; what AOTInductor compiled cannot be read");
    if (models.size() == 1)
        return newEntries(models.front());
    const auto main = std::ranges::find_if(
        models, [](std::string_view entry) { return entry.ends_with("models/model.json"); });
    if (main != models.end())
        return newEntries(*main);
    std::string names;
    for (const std::string_view entry : models)
        names += (names.empty() ? "" : ", ") + std::string(entry);
    return refused(archive, "the archive holds several programs: " + names,
                   "save the one that is meant by itself");
}

Result<Program> readFound(Archive& archive) {
    KERNELSKILL_TRY(const ProgramEntries entries, findEntries(archive));
    KERNELSKILL_CHECK(requireLittleEndian(archive, entries.root));
    KERNELSKILL_TRY(const SharedBytes text, archive.checkedData(entries.graph, maxGraphBytes));
    KERNELSKILL_TRY(Program program,
                    readGraph(textOf(text), archive.name() + ", entry " + entries.graph));
    KERNELSKILL_CHECK(readPayload(archive, entries.payload, program));
    return program;
}

/// Errors name nodes and entries as the archive spells them.
Error printable(Error error) {
    error.what = graph::printable(std::move(error.what));
    error.where = graph::printable(std::move(error.where));
    return error;
}

} // namespace

Result<Program> readProgram(const std::filesystem::path& path) {
    auto archive = Archive::open(path);
    if (!archive)
        return std::unexpected(printable(std::move(archive).error()));
    return readProgram(*archive);
}

Result<Program> readProgram(Archive& archive) {
    auto program = readFound(archive);
    if (!program)
        return std::unexpected(printable(std::move(program).error()));
    for (std::string& note : program->notes)
        note = graph::printable(std::move(note));
    return program;
}

} // namespace kernelskill::engine::graph
