"""Trees such as /sys/devices/system/cpu, and the output of turbostat."""

from __future__ import annotations

from pathlib import Path

DESKTOP = {
    "cpu0/cpufreq/scaling_available_frequencies": "3100000 2300000 1500000 800000 \n",
    "cpu0/cpufreq/cpuinfo_min_freq": "800000\n",
    "cpu0/cpufreq/cpuinfo_max_freq": "3100000\n",
    "cpu0/cpufreq/scaling_driver": "acpi-cpufreq\n",
    "cpu0/cpufreq/scaling_governor": "ondemand\n",
    "cpu0/cpufreq/freqdomain_cpus": "0 1 2 3 4 5 6 7\n",
    "cpu0/cpufreq/related_cpus": "0\n",
    "cpu0/topology/thread_siblings_list": "0,4\n",
    "cpufreq/ondemand/sampling_rate": "4000\n",
    "cpufreq/ondemand/up_threshold": "80\n",
    "cpuidle/current_governor": "menu\n",
    "cpu0/cpuidle/state0/name": "POLL\n",
    "cpu0/cpuidle/state0/latency": "0\n",
    "cpu0/cpuidle/state0/residency": "0\n",
    "cpu0/cpuidle/state1/name": "C1\n",
    "cpu0/cpuidle/state1/latency": "1\n",
    "cpu0/cpuidle/state1/residency": "1\n",
    "cpu0/cpuidle/state1/disable": "0\n",
    "cpu0/cpuidle/state2/name": "C1E\n",
    "cpu0/cpuidle/state2/latency": "10\n",
    "cpu0/cpuidle/state2/residency": "20\n",
    "cpu0/cpuidle/state2/disable": "1\n",
    "cpu0/cpuidle/state3/name": "C6\n",
    "cpu0/cpuidle/state3/latency": "104\n",
    "cpu0/cpuidle/state3/residency": "345\n",
}
"""A processor whose driver lists frequencies."""

SERVER = {
    "cpufreq/policy0/cpuinfo_min_freq": "1000000\n",
    "cpufreq/policy0/cpuinfo_max_freq": "3700000\n",
    "cpufreq/policy0/scaling_driver": "intel_pstate\n",
    "cpufreq/policy0/scaling_governor": "powersave\n",
    "cpufreq/policy0/related_cpus": "0\n",
    "cpuidle/current_governor_ro": "teo\n",
    "cpu0/cpuidle/state0/name": "POLL\n",
}
"""A processor whose driver reports only a range, and which does not sleep."""

HEAD = "Core\tCPU\tAvg_MHz\tBusy%\tBzy_MHz\tTSC_MHz\tIRQ\tC1%\tC6%\tCPU%c1\tCPU%c6\tCoreTmp\tPkgWatt\tCorWatt\n"

WORKING = (
    "turbostat version 2023.03.17 - Len Brown\n"
    + HEAD
    + "-\t-\t3090\t99.67\t3100\t3100\t9000\t0.10\t0.20\t0.13\t0.20\t60\t95.10\t70.00\n"
    + "0\t0\t3090\t99.67\t3100\t3100\t2250\t0.10\t0.20\t0.13\t0.20\t60\t95.10\t70.00\n"
    + "".join(f"{core}\t{core}\t3090\t99.67\t3100\t3100\t2250\t0.10\t0.20\t0.13\t0.20\t60\n" for core in (1, 2, 3))
    + HEAD
    + "-\t-\t3100\t99.87\t3100\t3100\t9000\t0.10\t0.20\t0.07\t0.00\t60\t95.30\t74.00\n"
)
"""Two samples of four busy cores."""

IDLE = HEAD + "-\t-\t5\t0.50\t900\t3100\t40\t1.00\t98.00\t2.50\t97.00\t30\t5.00\t1.20\n0\t0\t5\t0.50\t900\n"


def write(root: Path, files: dict[str, str]) -> Path:
    """Writes the tree."""
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root
