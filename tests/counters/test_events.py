"""The lists of events are complete, and every spelling of an event is recognised."""

from __future__ import annotations

import pytest

from hostnet import counters
from hostnet.counters import FLOWS, SCALARS, Uarch
from hostnet.counters.events import AT_LEAST
from hostnet.counters.missing import NEEDED_FOR
from hostnet.counters.names import NameParser, UnknownEventError
from hostnet.counters.quantities import CROSSING
from tests.support import raises_code

UARCHS = list(counters.uarchs().values())


def names(uarch: str = "cascade-lake") -> NameParser:
    return NameParser(counters.find_uarch(uarch))


@pytest.mark.parametrize("uarch", UARCHS, ids=lambda uarch: uarch.name)
def test_every_quantity_can_be_computed(uarch: Uarch) -> None:
    quantities = {*SCALARS, *(f"{flow}.{part}" for flow in FLOWS for part in ("occupancy", "lines"))}
    assert set(uarch.ways) == quantities | set(CROSSING)
    assert set(NEEDED_FOR) == quantities | {"channels"}
    for quantity, ways in uarch.ways.items():
        for key in (key for way in ways for key in way):
            kind = uarch.event_of(key).kind
            if quantity.endswith("occupancy"):
                assert kind == "occupancy", key
            elif quantity.endswith("share"):
                assert kind == ("occupancy" if key.endswith(AT_LEAST) else "threshold"), key
            else:
                assert kind == "count", key


@pytest.mark.parametrize("uarch", UARCHS, ids=lambda uarch: uarch.name)
def test_every_event_is_found_by_every_spelling(uarch: Uarch) -> None:
    known = NameParser(uarch)
    for event in uarch.events.values():
        pmu = uarch.pmus[event.pmu].perf
        for name in (event.name, *event.aliases):
            assert known.parse(name).key == event.name
            assert known.parse(name.lower()).key == event.name
            assert known.parse(f"{pmu}/{name.lower()}/").key == event.name
        assert known.parse(f"{pmu}/{event.encoding}/").key == event.name, "no two events have one encoding"
        assert known.parse(f"{pmu}/{event.encoding},name={event.name}/").key == event.name
        if event.pmu != "core":
            assert known.parse(f"{event.name} [{pmu}_3]").unit == f"{pmu}_3"
            assert known.parse(f"{pmu}_3/{event.encoding}/").unit == f"{pmu}_3"


@pytest.mark.parametrize(
    ("text", "key", "unit"),
    [
        ("unc_m_cas_count.rd", "UNC_M_CAS_COUNT.RD", ""),
        ("uncore_imc/cas_count_read/", "UNC_M_CAS_COUNT.RD", ""),
        ("uncore_imc_0/cas_count_write/", "UNC_M_CAS_COUNT.WR", "uncore_imc_0"),
        ("uncore_imc_0/event=0x4,umask=0x3/", "UNC_M_CAS_COUNT.RD", "uncore_imc_0"),
        ("uncore_imc_0/umask=0x03,event=0x04/", "UNC_M_CAS_COUNT.RD", "uncore_imc_0"),
        ("imc_5/config=0x304/", "UNC_M_CAS_COUNT.RD", "imc_5"),
        ("LLC_MISSES.MEM_READ", "UNC_M_CAS_COUNT.RD", ""),
        ("uncore_imc_1/unc_m_act_count.rd/", "UNC_M_ACT_COUNT.RD", "uncore_imc_1"),
        ("cycles:u", "CPU_CLK_UNHALTED.THREAD", ""),
        ("cpu/event=0x48,umask=0x1/", "L1D_PEND_MISS.PENDING", ""),
        ("cpu/l1d_pend_miss.pending/", "L1D_PEND_MISS.PENDING", ""),
        ("l1d_pend_miss.pending:k", "L1D_PEND_MISS.PENDING", ""),
        ("uncore_imc_0/event=0x81,thresh=34/", "UNC_M_WPQ_OCCUPANCY >=34", "uncore_imc_0"),
        ("uncore_imc_0/event=0x81,thresh=0x22/", "UNC_M_WPQ_OCCUPANCY >=34", "uncore_imc_0"),
        ("uncore_imc/unc_m_wpq_occupancy,thresh=34/", "UNC_M_WPQ_OCCUPANCY >=34", ""),
        ("UNC_M_WPQ_OCCUPANCY.T34", "UNC_M_WPQ_OCCUPANCY >=34", ""),
        ("UNC_M_WPQ_OCCUPANCY:t=34", "UNC_M_WPQ_OCCUPANCY >=34", ""),
        ("UNC_M_WPQ_OCCUPANCY:t=0x22", "UNC_M_WPQ_OCCUPANCY >=34", ""),
        ("UNC_M_RPQ_OCCUPANCY@thresh=42@", "UNC_M_RPQ_OCCUPANCY >=42", ""),
        ("uncore_cha_17/event=0x36,umask=0x21,config1=0x40433/", "UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD", "uncore_cha_17"),
        ("uncore_cha/event=0x36,umask=0x21,config1=0x4043300000000/", "UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD", ""),
        ("DRAMClocks", "UNC_M_CLOCKTICKS", ""),
        ("uncore_imc_2/clockticks/", "UNC_M_CLOCKTICKS", "uncore_imc_2"),
        ("uncore_irp_2/clockticks/", "UNC_I_CLOCKTICKS", "uncore_irp_2"),
    ],
)
def test_spellings(text: str, key: str, unit: str) -> None:
    found = names().parse(text)
    assert (found.key, found.unit) == (key, unit)


@pytest.mark.parametrize(
    "text",
    [
        "instructions:u",
        "task-clock",
        "LLC-load-misses",
        "power/energy-pkg/",
        "msr/tsc/",
        "inst_retired.any",
        "UNC_M_CAS_COUNT.ALL",
        "UNC_M_MAJOR_MODES.WRITE",
        "unc_upi_l1_power_cycles",
        "unc_upi_rxl_occupancy.slot0",
        "UNC_UPI_TxL_FLITS.IDLE [uncore_upi_1]",
        "uncore_imc_free_running_0/data_read/",
        "UNC_M2M_CLOCKTICKS [uncore_m2m_0]",
        "InstructionsRetired",
    ],
)
def test_what_has_nothing_to_do_with_the_host_network_is_passed_over(text: str) -> None:
    assert names().parse(text).key is None


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("UNC_M_CAS_COUNT.RDD", "the nearest is UNC_M_CAS_COUNT.RD"),
        ("unc_m_wqp_occupancy", "the nearest is UNC_M_WPQ_OCCUPANCY"),
        ("uncore_imc_0/event=0x99/", "give it a name"),
        ("uncore_imc_0/event=zz/", '"event=zz" is no number'),
        ("uncore_cha_0/unc_m_cas_count.rd/", "UNC_M_CAS_COUNT.RD is no event of uncore_cha_0"),
        ("UNC_M_CAS_COUNT.RD [uncore_cha_0]", "UNC_M_CAS_COUNT.RD is no event of uncore_cha_0"),
        ("florp/bar/", '"florp" is no unit'),
        ("UNC_M_RPQ_INSERTS.T3", "no event"),
        ("", "no event"),
    ],
)
def test_unknown_events_are_named_with_the_nearest_one(text: str, hint: str) -> None:
    with pytest.raises(UnknownEventError, match=hint):
        names().parse(text)


def test_a_preset_or_a_uarch_names_a_list() -> None:
    assert counters.find_uarch("ice-lake-8362") is counters.find_uarch("ice-lake")
    with raises_code('unknown-name | "ice-lake"'):
        counters.find_uarch("ice-lak")


def test_the_command_records_what_every_quantity_needs() -> None:
    for uarch in UARCHS:
        known = NameParser(uarch)
        command = counters.perf_command(uarch, 100)
        assert "-I 100 -x," in command
        options = [line.split("'")[1] for line in command.splitlines() if line.strip().startswith("-e")]
        keys = [known.parse(option).key or "" for option in options]
        recorded = {key.rstrip("0123456789") if AT_LEAST in key else key for key in keys}
        for ways in uarch.ways.values():
            assert set(ways[0]) <= recorded
        assert {pmu.clock for pmu in uarch.pmus.values()} <= recorded
