#include "tests/fuzz/targets.h"

#include "analysis/command/shell_words.h"
#include "analysis/model/kernel_model.h"
#include "analysis/scan/conditional_text.h"
#include "analysis/scan/declarations.h"
#include "analysis/scan/macros.h"
#include "analysis/source/json.h"
#include "analysis/source/json_nesting.h"
#include "analysis/source/unified_patch.h"
#include "analysis/syntax/lexer.h"
#include "engine/capture/captured_launch.h"
#include "engine/execution/emulator/wire/wire.h"
#include "engine/execution/gpu/runner_wire.h"
#include "engine/execution/nsight_report.h"
#include "engine/final_memory/element_type.h"
#include "engine/final_memory/final_memory.h"
#include "engine/findings/profile_file.h"
#include "engine/graph/extent_expression.h"
#include "engine/graph/graph_json.h"
#include "engine/graph/limitations.h"
#include "engine/graph/read_program.h"
#include "engine/graph/reference/torch_wire.h"
#include "engine/graph/tensor_extents.h"
#include "engine/inputs/launch_inference.h"
#include "engine/memory/memory_entry.h"
#include "engine/memory/outcome_file.h"
#include "engine/model/dialect.h"
#include "engine/model/sse_reader.h"
#include "engine/process/framing.h"
#include "engine/program/cmake_text.h"
#include "engine/program/command_words.h"
#include "engine/program/json_with_comments.h"
#include "engine/program/makefile_text.h"
#include "engine/program/workload_json.h"
#include "engine/regression/comparison_with_baseline.h"
#include "engine/replay/cubin_symbols.h"
#include "engine/replay/replay_wire.h"
#include "engine/static_facts/compile_job.h"
#include "engine/whole_program/program_baseline.h"
#include "lsp-server/documents/incremental_sync.h"
#include "lsp-server/protocol/position.h"
#include "lsp-server/protocol/uri.h"
#include "lsp-server/transport/connection.h"
#include "lsp-server/transport/framing.h"
#include "lsp-server/transport/line_framing.h"
#include "lsp-server/transport/utf8.h"
#include "skills/skill_document.h"
#include "skills/user_skill.h"

#include <spdlog/logger.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>

namespace kernelskill::testing {

namespace {

/// Unlike assert(), also in a build that is optimised.
void require(bool holds) {
    if (!holds)
        std::abort();
}

std::span<const std::byte> bytesOf(std::string_view text) {
    return std::as_bytes(std::span(text));
}

/// The stream in pieces whose lengths its first byte gives: a client may cut it anywhere.
void readFrames(std::string_view bytes) {
    constexpr std::size_t maxBody = 1 << 16;
    lsp::FrameDecoder decoder(maxBody);
    const std::size_t step = bytes.empty() ? 1 : static_cast<unsigned char>(bytes[0]) % 16 + 1;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
        decoder.feed(bytes.substr(at, step));
        while (const auto message = decoder.next()) {
            if (!*message)
                continue;
            require((*message)->size() <= maxBody);
            decoder.recoverFrom(**message);
        }
    }
}

/// The same with messages that are lines.
void readLines(std::string_view bytes) {
    constexpr std::size_t maxBody = 64;
    lsp::LineDecoder decoder(maxBody);
    const std::size_t step = bytes.empty() ? 1 : static_cast<unsigned char>(bytes[0]) % 16 + 1;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
        decoder.feed(bytes.substr(at, step));
        while (const auto message = decoder.next())
            require(!*message || ((*message)->size() <= maxBody && !(*message)->contains('\n')));
    }
}

/// A diff, applied to a text that the same bytes give.
void readPatch(std::string_view bytes) {
    const auto patches = analysis::parsePatch(bytes);
    if (!patches)
        return;
    for (const analysis::FilePatch& patch : *patches) {
        std::string before;
        for (const analysis::PatchHunk& hunk : patch.hunks)
            for (const std::string& line : hunk.before)
                before += line + "\n";
        std::ignore = analysis::applyPatch(before, patch);
        std::ignore = analysis::applyPatch(bytes, patch);
    }
}

void readMessage(std::string_view bytes) {
    spdlog::logger log("fuzz");
    std::size_t answers = 0;
    const auto send = [&](const std::string& answer) {
        ++answers;
        require(lsp::isValidUtf8(answer));
    };
    lsp::Connection connection(send, log);
    connection.onRequest("textDocument/hover", [](const nlohmann::json& params, lsp::Reply& reply,
                                                  const std::stop_source& /*stop*/) {
        const auto position = params.at("position").get<lsp::Position>();
        reply.result(nlohmann::json(position));
    });
    connection.onNotification("textDocument/didChange", [](const nlohmann::json& params) {
        for (const auto& change : params.at("contentChanges"))
            std::ignore = change.at("range").get<lsp::Range>();
    });
    std::ignore = connection.handle(bytes);
    require(answers <= 1);
}

/// A text, and positions in it that the same bytes give.
void convertPositions(std::string_view bytes) {
    const analysis::SourceText text{std::string(bytes)};
    constexpr std::array encodings = {lsp::PositionEncoding::Utf8, lsp::PositionEncoding::Utf16,
                                      lsp::PositionEncoding::Utf32};
    for (const lsp::PositionEncoding encoding : encodings) {
        for (std::uint32_t offset = 0; offset <= text.size() && offset < 256; ++offset) {
            const lsp::Position position = lsp::toPosition(text, offset, encoding);
            const std::uint32_t back = lsp::toOffset(text, position, encoding);
            require(back <= offset);
            require(lsp::toPosition(text, back, encoding) == position);
        }
        for (std::size_t at = 0; at + 1 < bytes.size() && at < 256; ++at) {
            const lsp::Position position{static_cast<unsigned char>(bytes[at]),
                                         static_cast<unsigned char>(bytes[at + 1])};
            require(lsp::toOffset(text, position, encoding) <= text.size());
        }
    }
}

void readUri(std::string_view bytes) {
    std::ignore = lsp::pathFromUri(bytes);
}

void readPins(std::string_view bytes) {
    analysis::FileModel file;
    file.file = "/nowhere/pins.cu";
    analysis::KernelModel kernel;
    kernel.name = kernel.qualifiedName = "k";
    for (const char* name : {"x", "n"}) {
        analysis::Parameter parameter;
        parameter.name = name;
        parameter.type.pointerDepth = name[0] == 'x' ? 1 : 0;
        kernel.parameters.push_back(std::move(parameter));
    }
    file.kernels.push_back(std::move(kernel));
    std::string text = "// kernelskill: launch ";
    text += bytes;
    file.source = std::make_shared<const analysis::SourceText>(std::move(text));
    for (const engine::LaunchPin& pin : engine::findLaunchPins(file).pins)
        require(pin.span.end <= file.source->size());
}

void scanText(std::string_view bytes) {
    const std::vector<analysis::Token> tokens = analysis::lex(bytes);
    std::uint32_t end = 0;
    for (const analysis::Token& token : tokens) {
        require(token.span.begin >= end && token.span.end > token.span.begin);
        end = token.span.end;
    }
    require(end <= bytes.size());
    analysis::MacroTable macros;
    macros.addDefinitionsOf(tokens);
    const auto structure = analysis::structuralTokens(tokens);
    for (const auto& declaration : analysis::scanDeclarations(structure, macros).declarations)
        require(declaration.span.end <= bytes.size());
}

void readSkill(std::string_view bytes) {
    std::ignore = skills::parseSkillDocument(bytes, "/nowhere/some-skill/SKILL.md");
    std::ignore = skills::parseUserSkill(bytes, "/nowhere/some-skill/SKILL.md");
}

void readMemory(std::string_view bytes) {
    if (const auto entry = engine::parseEntry(bytes))
        require(engine::parseEntry(engine::formatEntry(*entry)).has_value());
    std::ignore = engine::parseOutcomes(bytes);
}

void readCapture(std::string_view bytes) {
    if (const auto launch = engine::parseCapture(bytes))
        require(engine::parseCapture(engine::formatCapture(*launch)).has_value());
}

void readBufferList(std::string_view bytes) {
    constexpr std::uint64_t size = 4096;
    const auto memory = engine::parseBufferList(bytes, size, "list");
    if (!memory)
        return;
    std::string text = engine::bufferListHead();
    for (const engine::FinalBuffer& buffer : memory->buffers) {
        require(!buffer.offset || *buffer.offset + buffer.bytes <= size);
        text += lineOf(buffer);
        static_cast<void>(engine::elementOf(buffer.uses));
    }
    require(engine::parseBufferList(text, size, "list").has_value());
}

/// Reads the bytes as a frame's payload, and as JSON that is put into one: corpora are text that
/// way.
template <typename Read>
void readBoth(std::string_view bytes, const Read& read) {
    read(bytes);
    if (analysis::isNestedTooDeeply(bytes))
        return;
    auto value = nlohmann::json::parse(bytes, nullptr, false);
    if (value.is_discarded())
        return;
    const auto frame = engine::wire::frame(std::move(value));
    const auto payload = std::span(frame).subspan(engine::wire::frameHeaderBytes);
    read({reinterpret_cast<const char*>(payload.data()), payload.size()});
}

void readWorkerFrames(std::string_view bytes) {
    readBoth(bytes, [](std::string_view payload) {
        std::ignore = engine::emulator::decodeJob(bytesOf(payload));
        std::ignore = engine::emulator::decodeReport(bytesOf(payload));
    });
}

void readRunnerFrames(std::string_view bytes) {
    readBoth(bytes, [](std::string_view payload) {
        std::ignore = engine::gpu::decodeRequest(bytesOf(payload));
        std::ignore = engine::gpu::decodeAnswer(bytesOf(payload));
    });
}

void readTorchFrames(std::string_view bytes) {
    readBoth(bytes, [](std::string_view payload) {
        std::ignore = engine::graph::decodeTorchRequest(bytesOf(payload));
        std::ignore = engine::graph::decodeTorchAnswer(bytesOf(payload));
    });
}

void readCacheFiles(std::string_view bytes) {
    readBoth(bytes, [](std::string_view payload) {
        std::ignore = engine::decodeFindings(payload);
        std::ignore = engine::decodeReply(payload);
    });
}

/// An archive of torch.export.save.
void readProgramArchive(std::string_view bytes) {
    const auto kept = std::make_shared<const std::string>(bytes);
    auto archive = engine::graph::Archive::read({bytesOf(*kept), kept}, "fuzz.pt2");
    if (!archive)
        return;
    const auto program = engine::graph::readProgram(*archive);
    if (!program)
        return;
    std::ignore = engine::graph::limitations(*program);
    for (const auto& [name, tensor] : program->tensors)
        if (tensor.owner != nullptr)
            require(engine::graph::storageProblem(tensor.type, tensor.bytes.size()).empty());
}

/// The JSON of a program, and as the expression of an extent.
void readProgramGraph(std::string_view bytes) {
    if (const auto program = engine::graph::readGraph(bytes, "fuzz"))
        std::ignore = engine::graph::limitations(*program);
    const auto expression = engine::graph::parseExtent(bytes, "fuzz");
    if (!expression)
        return;
    const auto again = engine::graph::parseExtent(engine::graph::textOf(*expression), "fuzz");
    if (!again) // of brackets that the text did not have
        return;
    const auto first = engine::graph::evaluateExtent(*expression, {{"s0", 7}});
    const auto second = engine::graph::evaluateExtent(*again, {{"s0", 7}});
    if (first && second)
        require(*first == *second);
}

void readCubin(std::string_view bytes) {
    if (const auto symbols = engine::cubinSymbols(bytesOf(bytes)))
        require(symbols->variables.size() <= bytes.size());
}

/// Reads messages between a held program and the server: a program can answer anything.
void readReplayFrames(std::string_view bytes) {
    if (const auto request = engine::decodeReplayRequest(bytesOf(bytes)))
        std::ignore = engine::encode(*request);
    if (const auto answer = engine::decodeReplayAnswer(bytesOf(bytes)))
        std::ignore = engine::encode(*answer);
}

/// A makefile, with what each line of its recipes says.
void readMakefile(std::string_view bytes) {
    const auto make = engine::readMakefileText("/nowhere/Makefile", bytes);
    for (const engine::MakeRule& rule : make.rules)
        for (const std::string& line : rule.recipe)
            std::ignore = make.expand(line, rule);
}

void readCmake(std::string_view bytes) {
    for (const engine::CmakeCommand& command : engine::readCmakeCommands(bytes))
        require(command.line >= 1);
}

void readNsightTable(std::string_view bytes) {
    if (const auto kernels = engine::readNsightTable(bytes, "fuzz"))
        for (const engine::ImportedKernel& kernel : *kernels)
            require(!kernel.name.empty());
}

/// Programs of settings, in JSON with comments, and the same bytes as a command.
void readPrograms(std::string_view bytes) {
    const std::string plain = engine::plainJson(bytes);
    require(plain.size() == bytes.size());
    const auto words = engine::commandWords(bytes);
    require(words.empty() || words[0] == "/bin/sh" ||
            analysis::splitShellWords(engine::commandText(words)) == words);
    if (analysis::isNestedTooDeeply(plain))
        return;
    const auto value = nlohmann::json::parse(plain, nullptr, false);
    if (!value.is_discarded())
        std::ignore = engine::readWorkloads(value, "/nowhere", "fuzz");
}

/// A baseline of files or of a program that is read can be written, compared and read again.
void readBaselines(std::string_view bytes) {
    if (const auto files = engine::parseBaseline(bytes, "b.json")) {
        const std::string text = engine::baselineJson(*files).dump();
        require(engine::parseBaseline(text, "b.json").has_value());
        require(engine::compareWithBaseline(*files, *files, {}).size() == files->kernels.size());
    }
    const auto program = engine::parseProgramBaseline(bytes, "b.json");
    if (!program)
        return;
    require(engine::differenceBetween(program->program, program->program).empty());
    const std::string text = engine::programBaselineText(*program);
    const auto again = engine::parseProgramBaseline(text, "b.json");
    require(again.has_value());
    require(again->times.has_value() == program->times.has_value());
    if (program->times)
        for (const auto& change : engine::compareTimes(*program->times, *again->times).changes)
            require(change.change != engine::TimeChange::Slower);
}

/// Reads the stream of a model's service in both dialects, and as the text of an error.
void readModelReply(std::string_view bytes) {
    constexpr std::size_t maxEventBytes = 1 << 22;
    const std::size_t step = bytes.empty() ? 1 : static_cast<unsigned char>(bytes[0]) % 64 + 1;
    for (const auto& dialect : {engine::makeAnthropicDialect(), engine::makeOpenAiDialect()}) {
        engine::SseReader reader(maxEventBytes);
        engine::PartialReply partial;
        const auto take = [&](const engine::ServerSentEvent& event) {
            require(event.data.size() <= maxEventBytes);
            if (!partial.isComplete && !partial.trouble)
                dialect->take(event, partial);
        };
        for (std::size_t at = 0; at < bytes.size(); at += step)
            if (!reader.feed(bytes.substr(at, step), take))
                break;
        require(!partial.trouble || lsp::isValidUtf8(partial.trouble->what));
    }
    require(std::ranges::none_of(engine::serviceMessage(bytes), [](char c) { return c < ' '; }));
}

} // namespace

std::span<const FuzzTarget> fuzzTargets() {
    static constexpr std::array targets = {
        FuzzTarget{"frames", readFrames},
        FuzzTarget{"lines", readLines},
        FuzzTarget{"patches", readPatch},
        FuzzTarget{"messages", readMessage},
        FuzzTarget{"positions", convertPositions},
        FuzzTarget{"uris", readUri},
        FuzzTarget{"pins", readPins},
        FuzzTarget{"source", scanText},
        FuzzTarget{"skills", readSkill},
        FuzzTarget{"memory", readMemory},
        FuzzTarget{"captures", readCapture},
        FuzzTarget{"worker-frames", readWorkerFrames},
        FuzzTarget{"runner-frames", readRunnerFrames},
        FuzzTarget{"replay-frames", readReplayFrames},
        FuzzTarget{"buffer-lists", readBufferList},
        FuzzTarget{"cubins", readCubin},
        FuzzTarget{"torch-frames", readTorchFrames},
        FuzzTarget{"cache-files", readCacheFiles},
        FuzzTarget{"pt2", readProgramArchive},
        FuzzTarget{"pt2-graph", readProgramGraph},
        FuzzTarget{"makefiles", readMakefile},
        FuzzTarget{"cmake", readCmake},
        FuzzTarget{"programs", readPrograms},
        FuzzTarget{"nsight-tables", readNsightTable},
        FuzzTarget{"baselines", readBaselines},
        FuzzTarget{"model-replies", readModelReply},
    };
    return targets;
}

} // namespace kernelskill::testing
