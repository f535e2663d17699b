#include "tests/slurm_cluster.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <netinet/in.h>
#include <random>
#include <spawn.h>
#include <sstream>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace kernelskill::testing {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds startTime{30};

fs::path program(const std::string& name) {
    for (const char* folder : {"/usr/sbin", "/usr/bin", "/sbin", "/bin", "/usr/local/sbin"}) {
        if (fs::exists(fs::path(folder) / name))
            return fs::path(folder) / name;
    }
    return {};
}

/// No server listens there now.
int freePort() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(socket, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
    ::close(socket);
    return ntohs(address.sin_port);
}

/// As slurmd calls it.
std::string nodeName() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    const std::string whole = name.data();
    return whole.substr(0, whole.find('.'));
}

bool endsWithin(pid_t process, std::chrono::milliseconds time) {
    for (const auto end = Clock::now() + time; Clock::now() < end;) {
        if (::waitpid(process, nullptr, WNOHANG) != 0)
            return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
}

} // namespace

std::string SlurmCluster::whyNot() {
    for (const char* name : {"munged", "slurmctld", "slurmd", "srun", "setpriv"}) {
        if (program(name).empty())
            return std::string(name) + " is not installed (script/bootstrap --with=test)";
    }
    return ::geteuid() == 0 ? "" : "Slurm's daemons want to be started by root";
}

void SlurmCluster::writeConfiguration() const {
    const std::string folder = folder_.path().string();
    const std::string node = nodeName();
    std::ofstream(configuration())
        << "ClusterName=test\n"
        << "SlurmctldHost=" << node << "(127.0.0.1)\n"
        << "SlurmctldPort=" << freePort() << "\n"
        << "SlurmdPort=" << freePort() << "\n"
        << "SlurmUser=root\n"
        << "AuthType=auth/munge\n"
        << "AuthInfo=socket=" << folder << "/munge.socket\n"
        << "ProctrackType=proctrack/linuxproc\n"
        << "TaskPlugin=task/none\n"
        << "SelectType=select/cons_tres\n"
        << "SelectTypeParameters=CR_CPU\n"
        << "MpiDefault=none\n"
        << "AccountingStorageType=accounting_storage/none\n"
        << "JobAcctGatherType=jobacct_gather/none\n"
        << "SchedulerParameters=sched_interval=1\n"
        << "KillWait=2\n"
        << "ReturnToService=2\n"
        << "StateSaveLocation=" << folder << "/state\n"
        << "SlurmdSpoolDir=" << folder << "/spool\n"
        << "SlurmctldPidFile=" << folder << "/slurmctld.pid\n"
        << "SlurmdPidFile=" << folder << "/slurmd.pid\n"
        << "SlurmctldLogFile=" << folder << "/slurmctld.log\n"
        << "SlurmdLogFile=" << folder << "/slurmd.log\n"
        << "GresTypes=gpu\n"
        << "NodeName=" << node
        << " NodeAddr=127.0.0.1 CPUs=1 Gres=gpu:2 State=UNKNOWN\n"
        // Two jobs on the one CPU that every machine has.
        << "PartitionName=tests Nodes=" << node << " Default=YES OverSubscribe=FORCE:8 State=UP\n";
    std::ofstream(folder_.path() / "gres.conf")
        << "Name=gpu File=/dev/null\nName=gpu File=/dev/zero\n";
}

void SlurmCluster::start(std::vector<std::string> words) {
    words.front() = program(words.front()).string();
    words.insert(words.begin(), {program("setpriv").string(), "--pdeathsig", "KILL"});
    std::vector<char*> pointers;
    for (auto& word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const std::string log = (folder_.path() / "daemons.log").string();
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                       0600);
    ::posix_spawn_file_actions_adddup2(&actions, 1, 2);
    pid_t process = -1;
    if (::posix_spawn(&process, pointers[0], &actions, nullptr, pointers.data(), environ) == 0)
        daemons_.push_back(process);
    ::posix_spawn_file_actions_destroy(&actions);
}

SlurmCluster::SlurmCluster() {
    const auto& folder = folder_.path();
    for (const char* name : {"state", "spool"})
        fs::create_directory(folder / name);
    writeConfiguration();
    {
        std::ofstream key(folder / "munge.key", std::ios::binary);
        std::random_device random;
        for (int i = 0; i < 128; ++i)
            key.put(static_cast<char>(random()));
    }
    fs::permissions(folder / "munge.key", fs::perms::owner_read | fs::perms::owner_write);
    const auto file = [&](const char* option, const char* name) {
        return option + (folder / name).string();
    };
    start({"munged", "--foreground", "--force", file("--key-file=", "munge.key"),
           file("--socket=", "munge.socket"), file("--pid-file=", "munge.pid"),
           file("--seed-file=", "munge.seed"), file("--log-file=", "munge.log")});
    start({"slurmctld", "-D", "-f", configuration().string()});
    start({"slurmd", "-D", "-f", configuration().string()});
    std::string said;
    for (const auto end = Clock::now() + startTime; Clock::now() < end;) {
        said = output("timeout 5 srun --immediate=2 --ntasks=1 echo a job has run");
        if (said.find("a job has run") != std::string::npos)
            return;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    std::ifstream log(folder / "daemons.log");
    std::stringstream all;
    all << log.rdbuf();
    problem_ = "no job runs: " + said + "\n" + all.str();
}

SlurmCluster::~SlurmCluster() {
    static_cast<void>(output("timeout 5 scancel --user=root"));
    for (auto daemon = daemons_.rbegin(); daemon != daemons_.rend(); ++daemon) {
        ::kill(*daemon, SIGTERM);
        if (endsWithin(*daemon, std::chrono::seconds(3)))
            continue;
        ::kill(*daemon, SIGKILL);
        ::waitpid(*daemon, nullptr, 0);
    }
}

std::string SlurmCluster::output(const std::string& command) const {
    const auto shell = "SLURM_CONF=" + configuration().string() + " " + command + " 2>&1";
    FILE* pipe = ::popen(shell.c_str(), "r"); // NOLINT: a test's own words
    std::string text;
    for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe))
        text += static_cast<char>(c);
    ::pclose(pipe);
    return text;
}

int SlurmCluster::jobs(const std::string& name) const {
    const auto lines =
        output("squeue --noheader --format=%i --states=PENDING,RUNNING --name=" + name);
    int count = 0;
    for (const char c : lines)
        count += c == '\n' ? 1 : 0;
    return count;
}

} // namespace kernelskill::testing
