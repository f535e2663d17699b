#include "engine/execution/emulator/compile/host_compiler.h"

#include "analysis/source/files.h"
#include "analysis/source/program_search.h"
#include "engine/execution/emulator/compile/assembly.h"
#include "engine/execution/emulator/compile/assembly_guard.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <unistd.h>

namespace kernelskill::engine {
namespace {

bool isClang(const std::filesystem::path& compiler) {
    std::error_code ignored;
    const auto target = std::filesystem::canonical(compiler, ignored);
    return target.filename().string().find("clang") != std::string::npos;
}

std::string gnuStandard(const std::string& standard) {
    static constexpr std::array<std::string_view, 4> known = {"17", "20", "23", "26"};
    const auto number = standard.size() > 2 ? standard.substr(standard.size() - 2) : std::string{};
    if (number == "2a")
        return "-std=gnu++20";
    if (number == "2b" || number == "2c" || number == "26")
        return "-std=gnu++23";
    return "-std=gnu++" + (std::ranges::find(known, number) == known.end() ? "17" : number);
}

/// "-D__CUDA_ARCH__=800" for sm_80; empty if the command names no architecture, in which case the
/// prelude has a default.
std::string architectureMacro(const analysis::CompileCommand& command) {
    std::string digits;
    if (!command.architectures.empty())
        std::ranges::copy_if(command.architectures.front(), std::back_inserter(digits),
                             [](char c) { return c >= '0' && c <= '9'; });
    return digits.empty() ? std::string{} : "-D__CUDA_ARCH__=" + digits + "0";
}

std::string replaceAll(std::string_view text, std::string_view what, std::string_view by) {
    std::string result;
    for (auto at = text.find(what); at != std::string_view::npos; at = text.find(what)) {
        result.append(text.substr(0, at)).append(by);
        text.remove_prefix(at + what.size());
    }
    return result.append(text);
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> result;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        result.push_back(line);
    return result;
}

/// Tells annotateFile about fast math, and separates the images in the cache.
constexpr std::string_view fastMathFlag = "-DKERNELSKILL_FAST_MATH=1";

constexpr std::uint64_t maxCompilerMemory = 4ULL << 30;
constexpr std::uint64_t maxCompilerFile = 256ULL << 20; // Assembly, object and image.

/// The compiler reads the system's folders, its own, the prelude and `others`.
Walls compilerWalls(const std::filesystem::path& workFolder,
                    const std::vector<std::filesystem::path>& others, const ImageOptions& options) {
    Walls walls;
    walls.readable = systemFolders();
    for (const auto& folders : {installationOf(options.hostCompiler), others})
        walls.readable.insert(walls.readable.end(), folders.begin(), folders.end());
    walls.readable.push_back(options.preludeInclude);
    walls.writable = {workFolder};
    walls.memoryBytes = maxCompilerMemory;
    walls.fileBytes = maxCompilerFile;
    walls.cpuTime = std::chrono::duration_cast<std::chrono::seconds>(options.compileTime);
    return walls;
}

std::vector<std::string> preludeFolders(const ImageOptions& options) {
    return {"-isystem", options.preludeInclude.string(), "-idirafter",
            (options.preludeInclude / "fallback").string()};
}

/// Which limit the compiler's messages say it has run into; empty if none.
std::string exceededLimit(const std::string& messages) {
    const auto says = [&](std::string_view text) {
        return messages.find(text) != std::string::npos;
    };
    if (says("out of memory") || says("virtual memory exhausted") || says("bad_alloc") ||
        says("annot allocate memory") || says("memory exhausted"))
        return "it takes more than " + std::to_string(maxCompilerMemory >> 30) +
               " GiB of memory to compile";
    if (says("File size limit exceeded") || says("File too large"))
        return "its machine code is larger than " + std::to_string(maxCompilerFile >> 20) + " MiB";
    if (says("CPU time limit exceeded") || says("Killed signal") || says("signal terminated"))
        return "it takes too long to compile";
    return {};
}

Error tookTooLong(Error error, std::chrono::milliseconds time) {
    if (error.kind == ErrorKind::Failed)
        error.what =
            "the kernel takes more than " +
            std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) +
            " s to compile for the CPU";
    return error;
}

Result<void> annotateFile(const std::filesystem::path& assembly, const std::string& text,
                          const AssemblyOptions& options) {
    std::ofstream output(assembly, std::ios::binary | std::ios::trunc);
    output << annotateAssembly(text, options);
    output.close();
    if (text.empty() || !output.good())
        return std::unexpected(Error{ErrorKind::Failed, "cannot write to the image cache",
                                     assembly.string(),
                                     "free some space, or set another cache folder"});
    return {};
}

/// The names in ld's "undefined reference to `f(int)'" messages, except the worker's own symbols.
std::vector<std::string> undefinedReferences(const std::string& messages) {
    static constexpr std::string_view marker = "undefined reference to `";
    std::vector<std::string> result;
    for (const auto& line : lines(messages)) {
        const auto begin = line.find(marker);
        if (begin == std::string::npos)
            continue;
        const auto name =
            line.substr(begin + marker.size(), line.rfind('\'') - begin - marker.size());
        const bool workers = name.starts_with("ks_") || name.starts_with("__tsan_") ||
                             name.starts_with("__sanitizer_");
        if (!workers && std::ranges::find(result, name) == result.end())
            result.push_back(name);
    }
    return result;
}

} // namespace

Result<std::filesystem::path> findHostCompiler(const std::filesystem::path& wanted) {
    if (!wanted.empty()) {
        if (const auto found = analysis::findProgram(wanted.string()))
            return *found;
        return std::unexpected(
            Error{ErrorKind::Missing, "the host compiler '" + wanted.string() + "' cannot be run",
                  wanted.string(), "correct kernelskill.execution.hostCompiler"});
    }
    if (const char* variable = std::getenv("KERNELSKILL_HOST_CXX");
        variable != nullptr && *variable != '\0') {
        if (const auto found = analysis::findProgram(variable))
            return *found;
        return std::unexpected(Error{
            ErrorKind::Missing, std::string("the host compiler '") + variable + "' cannot be run",
            "KERNELSKILL_HOST_CXX", "correct the variable, or unset it"});
    }
    for (const char* name : {"g++", "c++", "clang++"}) {
        if (const auto found = analysis::findProgram(name))
            return *found;
    }
    return std::unexpected(Error{ErrorKind::Missing,
                                 "no host compiler (g++, c++ or clang++) on PATH",
                                 {},
                                 "install g++, or set kernelskill.execution.hostCompiler"});
}

std::vector<std::string> preludeFlags(const ImageOptions& options,
                                      const analysis::CompileCommand& command,
                                      const ImageChecks& checks) {
    // -O1 keeps the accesses that a GPU's compiler would keep. The following flags keep each of
    // them a single access.
    std::vector<std::string> flags = {"-x",
                                      "c++",
                                      gnuStandard(command.standard),
                                      "-O1",
                                      "-g1",
                                      "-gdwarf-4",
                                      "-fPIC",
                                      "-w",
                                      "-fsanitize=thread",
                                      "-fvisibility=hidden",
                                      "-fwrapv",
                                      "-fno-strict-aliasing",
                                      "-fno-math-errno",
                                      "-fno-threadsafe-statics",
                                      "-fno-stack-protector",
                                      "-fcf-protection=none",
                                      "-fno-asynchronous-unwind-tables",
                                      "-ffp-contract=off",
                                      "-D_GNU_SOURCE",
                                      "-DKERNELSKILL_EMULATION=1"};
    if (isClang(options.hostCompiler)) {
        for (const char* flag : {"-mllvm", "-tsan-instrument-func-entry-exit=0", "-mllvm",
                                 "-tsan-distinguish-volatile=1", "-fno-vectorize",
                                 "-fno-slp-vectorize", "-Wno-everything", "-ferror-limit=40"})
            flags.emplace_back(flag);
        if (options.traceBranches)
            flags.emplace_back("-fsanitize-coverage=trace-pc,no-prune");
    } else {
        for (const char* flag :
             {"--param", "tsan-instrument-func-entry-exit=0", "--param",
              "tsan-distinguish-volatile=1", "-fno-tree-sra", "-fno-gnu-unique", "-fpermissive",
              "-fmax-errors=40", "-fno-diagnostics-show-caret", "-fdiagnostics-color=never"})
            flags.emplace_back(flag);
        if (options.traceBranches)
            flags.emplace_back("-fsanitize-coverage=trace-pc");
    }
    if (checks.divisions)
        for (const char* flag :
             {"-fsanitize=integer-divide-by-zero", isClang(options.hostCompiler)
                                                       ? "-fsanitize-trap=integer-divide-by-zero"
                                                       : "-fsanitize-undefined-trap-on-error"})
            flags.emplace_back(flag);
    if (checks.locals != LocalChecks::None)
        flags.emplace_back("-fsanitize=bounds");
    if (checks.locals == LocalChecks::Pointers)
        flags.emplace_back("-fsanitize=object-size");
    // The compiler may take it that no round of a loop leaves an array, and drop those that do.
    if (checks.locals != LocalChecks::None && !isClang(options.hostCompiler))
        flags.emplace_back("-fno-aggressive-loop-optimizations");
    if (const auto macro = architectureMacro(command); !macro.empty())
        flags.push_back(macro);
    return flags;
}

std::vector<std::string> compilerFlags(const ImageOptions& options,
                                       const analysis::CompileCommand& command,
                                       const ImageChecks& checks) {
    auto flags = preludeFlags(options, command, checks);
    if (command.fastMath)
        flags.emplace_back(fastMathFlag);
    for (const auto& definition : command.definitions)
        flags.push_back("-D" + definition);
    for (const auto& name : command.undefinitions)
        flags.push_back("-U" + name);
    return flags;
}

std::string preludeHeaderText(const ImageOptions& options) {
    // By their whole paths: the user's folders, which are searched first, may hold a prelude.h.
    std::string result;
    for (const char* header : {"prelude.h", "kernelskill/emulation_support.h"})
        result += "#include \"" + (options.preludeInclude / header).string() + "\"\n";
    return result;
}

bool takesPrecompiledPrelude(const ImageOptions& options) {
    return !isClang(options.hostCompiler);
}

bool precompilePrelude(const std::filesystem::path& workFolder,
                       const std::vector<std::string>& flags, const ImageOptions& options,
                       std::stop_token stop) {
    const auto header = (workFolder / preludeHeaderName).string();
    ChildCommand command;
    command.program = options.hostCompiler;
    command.time = options.compileTime;
    command.walls = compilerWalls(workFolder, {}, options);
    command.temporaryFolder = workFolder;
    command.arguments = flags;
    const auto folders = preludeFolders(options);
    command.arguments.insert(command.arguments.end(), folders.begin(), folders.end());
    command.arguments.insert(command.arguments.end(), {"-c", "-x", "c++-header", header, "-o",
                                                       header + std::string(precompiledSuffix)});
    const auto compiled = runChild(command, std::move(stop));
    return compiled && compiled->status == 0;
}

Result<CompileOutcome> compileImage(const CompileRequest& request, const ImageOptions& options,
                                    std::stop_token stop) {
    const auto mirror = (request.workFolder / "src").string();
    ChildCommand command;
    command.program = options.hostCompiler;
    command.time = options.compileTime;
    auto readable = withoutPrivate(request.systemIncludeDirs);
    readable.insert(readable.end(), request.originals.begin(), request.originals.end());
    command.walls = compilerWalls(request.workFolder, readable, options);
    command.temporaryFolder = request.workFolder;
    command.arguments = request.flags;
    auto& arguments = command.arguments;
    for (const auto& folder : request.systemIncludeDirs)
        arguments.insert(arguments.end(), {"-idirafter", folder.string()});
    arguments.push_back("-fdebug-prefix-map=" + mirror + "=" + std::string(userPathMarker));
    arguments.push_back("-fmacro-prefix-map=" + mirror + "=");
    for (const auto& folder : request.includeDirs)
        arguments.push_back("-I" + folder.string());
    const auto folders = preludeFolders(options);
    arguments.insert(arguments.end(), folders.begin(), folders.end());
    // A precompiled header is taken only if it is the first.
    arguments.insert(arguments.end(),
                     {"-include", (request.workFolder / preludeHeaderName).string(), "-include",
                      (request.workFolder / "prefix.h").string()});
    for (const auto& file : request.forcedIncludes)
        arguments.insert(arguments.end(), {"-include", file});
    // The worker defines the missing functions. -fsanitize=thread is not passed at the link,
    // because it would link libtsan.
    const auto assembly = request.workFolder / "unit.s";
    arguments.insert(arguments.end(),
                     {"-S", (request.workFolder / "unit.cpp").string(), "-o", assembly.string()});
    auto compiled = runChild(command, stop);
    if (!compiled)
        return std::unexpected(tookTooLong(std::move(compiled.error()), options.compileTime));
    CompileOutcome outcome;
    outcome.messages = replaceAll(compiled->messages, mirror + "/", "/");
    if (compiled->status != 0) {
        outcome.exceededLimit = exceededLimit(outcome.messages);
        return outcome;
    }
    const std::string text = analysis::readFile(assembly, maxCompilerFile).value_or("");
    if (auto foreign = foreignAssembly(text)) {
        outcome.foreign = std::move(*foreign);
        return outcome;
    }
    const AssemblyOptions asked{std::string(userPathMarker), options.preludeInclude.string(),
                                std::ranges::find(request.flags, fastMathFlag) !=
                                    request.flags.end(),
                                request.localAccesses};
    if (auto annotated = annotateFile(assembly, text, asked); !annotated)
        return std::unexpected(annotated.error());

    ChildCommand link;
    link.program = options.hostCompiler;
    link.time = options.compileTime;
    link.walls = command.walls;
    link.temporaryFolder = request.workFolder;
    link.arguments = {"-shared",
                      assembly.string(),
                      "-o",
                      (request.workFolder / "image.so").string(),
                      "-Wl,--build-id=none",
                      "-Wl,--warn-unresolved-symbols",
                      "-Wl,-z,defs",
                      "-Wl,-z,now"};
    // An object that claims to hold intermediate code would start a compiler, with its own options.
    link.arguments.emplace_back("-fno-lto");
    if (!isClang(options.hostCompiler))
        link.arguments.emplace_back("-fno-use-linker-plugin");
    auto linked = runChild(link, stop);
    if (!linked)
        return std::unexpected(tookTooLong(std::move(linked.error()), options.compileTime));
    outcome.succeeded = linked->status == 0;
    outcome.undefinedSymbols = undefinedReferences(linked->messages);
    if (!outcome.succeeded) {
        outcome.messages += linked->messages;
        outcome.exceededLimit = exceededLimit(linked->messages);
    }
    return outcome;
}

std::optional<CompilerMessage> firstError(const std::string& messages) {
    for (const auto& line : lines(messages)) {
        auto at = line.find(": error: ");
        std::size_t length = 9;
        if (at == std::string::npos) {
            at = line.find(": fatal error: ");
            length = 15;
        }
        if (at == std::string::npos)
            continue;
        CompilerMessage message;
        message.text = line.substr(at + length);
        const auto place = line.substr(0, at); // For file:line:column.
        const auto columnAt = place.rfind(':');
        const auto lineAt =
            columnAt == std::string::npos ? columnAt : place.rfind(':', columnAt - 1);
        if (lineAt != std::string::npos) {
            message.file = place.substr(0, lineAt);
            std::from_chars(place.data() + lineAt + 1, place.data() + columnAt, message.line);
        }
        return message;
    }
    return std::nullopt;
}

std::vector<std::string> missingNames(const std::string& messages) {
    std::set<std::string> names;
    for (const auto& line : lines(messages)) {
        const bool missing = line.find("was not declared") != std::string::npos ||
                             line.find("does not name a type") != std::string::npos ||
                             line.find("has not been declared") != std::string::npos ||
                             line.find("is not a member of") != std::string::npos ||
                             line.find("has no member named") != std::string::npos ||
                             line.find("undeclared identifier") != std::string::npos ||
                             line.find("unknown type name") != std::string::npos ||
                             line.find("incomplete type") != std::string::npos ||
                             line.find("no member named") != std::string::npos;
        if (!missing || line.find("error: ") == std::string::npos)
            continue;
        for (auto begin = line.find('\''); begin != std::string::npos;) {
            const auto end = line.find('\'', begin + 1);
            if (end == std::string::npos)
                break;
            const auto quoted = line.substr(begin + 1, end - begin - 1);
            auto word = quoted.substr(0, quoted.find('<'));
            if (const auto scope = word.rfind("::"); scope != std::string::npos)
                word = word.substr(scope + 2);
            if (const auto space = word.rfind(' '); space != std::string::npos)
                word = word.substr(space + 1);
            if (!word.empty())
                names.insert(word);
            begin = line.find('\'', end + 1);
        }
    }
    return {names.begin(), names.end()};
}

} // namespace kernelskill::engine
