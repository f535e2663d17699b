#include "engine/assembly/disassembler.h"

#include "analysis/source/files.h"
#include "analysis/source/program_search.h"
#include "engine/process/child_process.h"
#include "engine/storage/temporary_folder.h"

#include <fstream>
#include <system_error>
#include <utility>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

/// Its first argument is the file for the output. Limits: address space in kilobytes, seconds of
/// CPU time, file size in blocks of 512 bytes.
constexpr const char* limitedStart =
    "out=$1; shift; ulimit -v 8388608 && ulimit -t 120 && ulimit -f 524288 && exec \"$0\" \"$@\" "
    ">\"$out\"";

} // namespace

Result<Disassembler> findDisassembler(const std::optional<analysis::CudaToolkit>& toolkit) {
    for (const bool tellsLines : {true, false}) {
        const std::string name = tellsLines ? "nvdisasm" : "cuobjdump";
        if (toolkit) {
            if (auto program = analysis::findProgram((toolkit->root / "bin" / name).string()))
                return Disassembler{std::move(*program), tellsLines};
        }
        if (auto program = analysis::findProgram(name))
            return Disassembler{std::move(*program), tellsLines};
    }
    return std::unexpected(
        Error{ErrorKind::Missing, "there is no nvdisasm, which prints a GPU's machine code (SASS)",
              toolkit ? toolkit->root.string() : std::string(),
              "install the CUDA toolkit's nvdisasm (package cuda-nvdisasm), or ask for PTX"});
}

Result<std::string> disassemble(const Disassembler& disassembler, const std::string& cubin,
                                std::chrono::milliseconds time, std::stop_token stop) {
    const auto name = disassembler.program.filename().string();
    const auto failed = [&](const std::string& what) {
        return std::unexpected(
            Error{ErrorKind::Failed, name + " " + what, disassembler.program.string(), {}});
    };
    std::error_code error;
    const auto folder = TemporaryFolder::make(fs::temp_directory_path(error), "kernelskill-sass");
    if (!folder)
        return failed("cannot be used: no temporary folder");
    const auto input = folder->path() / "unit.cubin";
    const auto output = folder->path() / "unit.sass";
    std::ofstream stream(input, std::ios::binary);
    stream << cubin;
    stream.close();
    if (!stream)
        return failed("cannot be used: the temporary folder cannot be written to");

    ChildCommand command;
    command.program = "/bin/sh";
    command.arguments = {"-c", limitedStart, disassembler.program.string(), output.string()};
    if (disassembler.tellsLines)
        command.arguments.insert(command.arguments.end(),
                                 {"--print-code", "--print-line-info-inline"});
    else
        command.arguments.emplace_back("--dump-sass");
    command.arguments.push_back(input.string());
    command.time = time;
    auto child = runChild(command, std::move(stop));
    if (!child) {
        auto problem = std::move(child.error());
        if (problem.kind == ErrorKind::Failed)
            problem.what = name + " " + problem.what;
        return std::unexpected(std::move(problem));
    }
    if (child->status != 0)
        return failed("failed: " + child->messages.substr(0, 300));
    auto text = analysis::readFile(output);
    if (!text)
        return failed("printed nothing");
    return std::move(*text);
}

} // namespace kernelskill::engine
